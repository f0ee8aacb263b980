package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;

/**
 * Lines of tables and of text files, as a job's input paths name them. A task reads a region or, as
 * with {@link TextInputFormat}, a part of a file. The key is the offset of a line in a file, or the
 * number of a row in its region.
 */
public final class LinesInputFormat extends InputFormat<LongWritable, Text> {
  @Override
  public List<InputSplit> getSplits(JobContext job) throws IOException {
    List<Path> files = new ArrayList<>();
    List<Path> tables = new ArrayList<>();
    for (Path path : FileInputFormat.getInputPaths(job)) {
      (TableFileSystem.isTable(path) ? tables : files).add(path);
    }
    List<InputSplit> splits = new ArrayList<>();
    if (!files.isEmpty()) {
      Job ofFiles = Job.getInstance(job.getConfiguration());
      ofFiles.getCredentials().addAll(job.getCredentials());
      FileInputFormat.setInputPaths(ofFiles, files.toArray(new Path[0]));
      splits.addAll(new TextInputFormat().getSplits(ofFiles));
    }
    if (!tables.isEmpty()) {
      try (Tables connected = new Tables(job.getConfiguration())) {
        for (Path table : tables) {
          splits.addAll(splits(connected, Tables.at(table)));
        }
      }
    }
    return splits;
  }

  private static List<InputSplit> splits(Tables tables, TableName table) throws IOException {
    List<InputSplit> splits = new ArrayList<>();
    if (tables.settings().read() == TableSettings.Read.SNAPSHOT) {
      tables.regions(table); // one that is not there is not snapshot either
      for (TableSnapshotInputFormatImpl.InputSplit part : Snapshots.splits(tables, table)) {
        splits.add(RegionSplit.ofSnapshot(part, tables.bytes(part.getRegionInfo())));
      }
      return splits;
    }
    try (RegionLocator locator = tables.connection().getRegionLocator(table)) {
      for (RegionInfo region : tables.regions(table)) {
        HRegionLocation place = locator.getRegionLocation(region.getStartKey());
        splits.add(RegionSplit.ofTable(region, place.getHostname(), tables.bytes(region)));
      }
    }
    return splits;
  }

  @Override
  public RecordReader<LongWritable, Text> createRecordReader(
      InputSplit split, TaskAttemptContext task) {
    return split instanceof RegionSplit
        ? new RegionLineReader()
        : new TextInputFormat().createRecordReader(split, task);
  }
}

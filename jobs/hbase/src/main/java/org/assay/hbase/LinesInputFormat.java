package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Table;
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
 * Lines of tables and of text files, as a job's input paths name them. As with {@link
 * TextInputFormat} a task reads about as many bytes of lines as a block of HDFS has ({@code
 * dfs.blocksize}, and {@code mapreduce.input.fileinputformat.split.minsize} and {@code .maxsize}):
 * a part of a region, or regions that lie on one host as far as a table divides so. Of a table's
 * lines it gets the columns that the job says that it reads, or all. Where the job says which lines
 * it reads, servers give it these alone, in at most as many tasks as the table has regions; a
 * snapshot has all lines. The key is the offset of a line in a file, or the number of a row in its
 * split.
 */
public final class LinesInputFormat extends InputFormat<LongWritable, Text> {
  private static final long BLOCK_BYTES = 128L << 20;

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
        JobAccess.give(job, connected.connection());
        for (Path table : tables) {
          splits.addAll(splits(connected, Tables.at(table), splitBytes(job)));
        }
      }
    }
    return splits;
  }

  /** As of a file with HDFS' usual block. */
  private static long splitBytes(JobContext job) {
    long block = job.getConfiguration().getLongBytes("dfs.blocksize", BLOCK_BYTES);
    long most = FileInputFormat.getMaxSplitSize(job);
    return Math.max(1, Math.max(FileInputFormat.getMinSplitSize(job), Math.min(most, block)));
  }

  private static List<InputSplit> splits(Tables tables, TableName table, long splitBytes)
      throws IOException {
    int apart = Tables.apart(tables.descriptor(table));
    boolean rest = LineColumns.needRest(tables.conf(), apart);
    List<Place> places = byHost(places(tables, table));
    List<RegionRows> rows = new ArrayList<>();
    try (Table scanned = tables.connection().getTable(table)) {
      for (Place place : places) {
        rows.add(RegionRows.of(scanned, place.region, apart > 0));
      }
    }
    if (AskedLines.areSaid(tables.conf()) && tables.settings().read() == TableSettings.Read.SCAN) {
      AskedLines asked = new AskedLines(tables.conf());
      return asked.splits(table, LinePlaces.of(table, rows), rest, places.size());
    }
    List<InputSplit> splits = new ArrayList<>();
    for (List<RegionRows.Range> ranges : RegionRows.cut(rows, splitBytes)) {
      splits.add(split(table, places, ranges, rest));
    }
    return splits;
  }

  private static RowSplit split(
      TableName table, List<Place> places, List<RegionRows.Range> ranges, boolean rest)
      throws IOException {
    List<RowSplit.Part> parts = new ArrayList<>();
    long rows = 0;
    long bytes = 0;
    for (RegionRows.Range range : ranges) {
      TableSnapshotInputFormatImpl.InputSplit snapshot = places.get(range.region).snapshot;
      parts.add(
          snapshot == null
              ? RowSplit.Part.ofTable(range)
              : RowSplit.Part.ofSnapshot(range, snapshot, rest));
      rows += range.rows;
      bytes += range.bytes;
    }
    return new RowSplit(table, parts, hosts(places, ranges), rows, bytes, rest);
  }

  /** The hosts of a part: those with at least half as much of it as the one that has most. */
  static String[] hosts(List<Place> places, List<RegionRows.Range> ranges) {
    Map<String, Long> bytes = new LinkedHashMap<>();
    for (RegionRows.Range range : ranges) {
      for (String host : places.get(range.region).hosts) {
        bytes.merge(host, range.bytes, Long::sum);
      }
    }
    long most = bytes.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return bytes.entrySet().stream()
        .filter(host -> 2 * host.getValue() >= most)
        .map(Map.Entry::getKey)
        .toArray(String[]::new);
  }

  /** Where a region can be read. */
  static final class Place {
    final RegionInfo region;
    final String[] hosts;
    final TableSnapshotInputFormatImpl.InputSplit snapshot;

    Place(RegionInfo region, String[] hosts, TableSnapshotInputFormatImpl.InputSplit snapshot) {
      this.region = region;
      this.hosts = hosts;
      this.snapshot = snapshot;
    }
  }

  /** All regions of a table, in the order of their keys. */
  private static List<Place> places(Tables tables, TableName table) throws IOException {
    List<Place> places = new ArrayList<>();
    List<RegionInfo> regions = tables.regions(table); // one that is not there is no snapshot either
    if (tables.settings().read() == TableSettings.Read.SNAPSHOT) {
      for (TableSnapshotInputFormatImpl.InputSplit part : Snapshots.splits(tables, table)) {
        places.add(new Place(part.getRegionInfo(), part.getLocations(), part));
      }
      return places;
    }
    try (RegionLocator locator = tables.connection().getRegionLocator(table)) {
      for (RegionInfo region : regions) {
        String host = locator.getRegionLocation(region.getStartKey()).getHostname();
        places.add(new Place(region, new String[] {host}, null));
      }
    }
    return places;
  }

  /** Regions of one host together, so that few parts have rows of several hosts. */
  static List<Place> byHost(List<Place> places) {
    Map<String, List<Place>> byHost = new LinkedHashMap<>();
    for (Place place : places) {
      String host = place.hosts.length == 0 ? "" : place.hosts[0];
      byHost.computeIfAbsent(host, any -> new ArrayList<>()).add(place);
    }
    List<Place> ordered = new ArrayList<>();
    byHost.values().forEach(ordered::addAll);
    return ordered;
  }

  @Override
  public RecordReader<LongWritable, Text> createRecordReader(
      InputSplit split, TaskAttemptContext task) {
    return split instanceof RowSplit
        ? new RowReader()
        : new TextInputFormat().createRecordReader(split, task);
  }
}

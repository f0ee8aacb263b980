package org.assay.rows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
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
 * it reads, servers give it these alone, by default in at most as many tasks as the table has
 * regions; files that are read without servers have all lines. The key is the offset of a line in a
 * file, or the number of a row in its split.
 */
public abstract class RowInputFormat extends InputFormat<LongWritable, Text> {
  private static final long BLOCK_BYTES = 128L << 20;

  private final RowStore<?> store;

  protected RowInputFormat(RowStore<?> store) {
    this.store = store;
  }

  @Override
  public List<InputSplit> getSplits(JobContext job) throws IOException {
    List<Path> files = new ArrayList<>();
    List<Path> tables = new ArrayList<>();
    for (Path path : FileInputFormat.getInputPaths(job)) {
      (store.scheme().equals(path.toUri().getScheme()) ? tables : files).add(path);
    }
    List<InputSplit> splits = new ArrayList<>();
    if (!files.isEmpty()) {
      Job ofFiles = Job.getInstance(job.getConfiguration());
      ofFiles.getCredentials().addAll(job.getCredentials());
      FileInputFormat.setInputPaths(ofFiles, files.toArray(new Path[0]));
      splits.addAll(new TextInputFormat().getSplits(ofFiles));
    }
    if (!tables.isEmpty()) {
      try (RowTables<?> connected = store.connect(job.getConfiguration())) {
        connected.give(job);
        for (Path table : tables) {
          splits.addAll(connected.splits(RowTables.at(table), splitBytes(job)));
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

  /** The splits of a table in the order of its keys. */
  static <R extends Region> List<InputSplit> splits(
      RowTables<R> tables, String table, long splitBytes) throws IOException {
    boolean rest = LineColumns.needRest(tables.conf(), tables.apart(table));
    List<R> places = byHost(tables.places(table));
    List<RegionRows> rows = tables.count(table, places);
    if (AskedLines.areSaid(tables.conf()) && tables.getsRows()) {
      LinePlaces lines = LinePlaces.of(table, rows, tables.insteadOfLookup());
      return new AskedLines(tables.conf())
          .splits(table, lines, rest, tables.lookups(places.size()));
    }
    List<InputSplit> splits = new ArrayList<>();
    List<List<RegionRows.Range>> cut =
        tables.readsWhole()
            ? RegionRows.together(rows, splitBytes)
            : RegionRows.cut(rows, splitBytes);
    for (List<RegionRows.Range> ranges : cut) {
      List<RowSplit.Part> parts = new ArrayList<>();
      long rowsOfPart = 0;
      long bytes = 0;
      for (RegionRows.Range range : ranges) {
        byte[] files = tables.files(places.get(range.region), range, rest);
        parts.add(new RowSplit.Part(range.start, range.stop, files));
        rowsOfPart += range.rows;
        bytes += range.bytes;
      }
      splits.add(new RowSplit(table, parts, hosts(places, ranges), rowsOfPart, bytes, rest));
    }
    return splits;
  }

  /** The hosts of a part: those with at least half as much of it as the one that has most. */
  static String[] hosts(List<? extends Region> places, List<RegionRows.Range> ranges) {
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

  /** Regions of one host together, so that few parts have rows of several hosts. */
  static <R extends Region> List<R> byHost(List<R> places) {
    Map<String, List<R>> byHost = new LinkedHashMap<>();
    for (R place : places) {
      String host = place.hosts.length == 0 ? "" : place.hosts[0];
      byHost.computeIfAbsent(host, any -> new ArrayList<>()).add(place);
    }
    List<R> ordered = new ArrayList<>();
    byHost.values().forEach(ordered::addAll);
    return ordered;
  }

  @Override
  public RecordReader<LongWritable, Text> createRecordReader(
      InputSplit split, TaskAttemptContext task) {
    return split instanceof RowSplit
        ? new RowReader(store)
        : new TextInputFormat().createRecordReader(split, task);
  }
}

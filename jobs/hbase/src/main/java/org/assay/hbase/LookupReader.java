package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The lines that a task looks up, in the order of the job's list: single ones by gets, many of them
 * at once, and ranges by scans.
 */
final class LookupReader extends RecordReader<LongWritable, Text> {
  /** How many gets go to the servers together. */
  static final int BATCH = 500;

  private final LongWritable number = new LongWritable(-1);
  private final Text line = new Text();
  private final Deque<Scan> scans = new ArrayDeque<>();
  private LookupSplit split;
  private AskedLines asked;
  private Table table;
  private long left;
  private Result[] got = {};
  private int at;
  private ResultScanner scanner;

  @Override
  public void initialize(InputSplit given, TaskAttemptContext task) throws IOException {
    Configuration conf = task.getConfiguration();
    LookupSplit wanted = (LookupSplit) given;
    begin(wanted, conf, SharedConnections.of(conf).getTable(wanted.table()));
  }

  /** Closes the table when it is closed. */
  void begin(LookupSplit wanted, Configuration conf, Table from) throws IOException {
    split = wanted;
    table = from;
    asked = new AskedLines(conf);
    for (long before = split.from(); before > 0; before--) {
      asked.next();
    }
    left = split.entries();
  }

  /**
   * Goes to the next line.
   *
   * @throws IOException also at the end, where the table has lost lines
   */
  @Override
  public boolean nextKeyValue() throws IOException {
    Result row = next();
    if (row != null) {
      number.set(number.get() + 1);
      RowReader.take(row, split.rest(), line);
      return true;
    }
    long found = number.get() + 1;
    if (found != split.lines()) {
      throw new IOException(
          "table " + split.table() + " has " + found + " of " + split.lines() + " asked lines");
    }
    return false;
  }

  private Result next() throws IOException {
    while (true) {
      while (at < got.length) {
        Result row = got[at++];
        if (!row.isEmpty()) {
          return row;
        }
      }
      if (scanner != null) {
        Result row = scanner.next();
        if (row != null) {
          return row;
        }
        endScan();
      }
      if (!scans.isEmpty()) {
        scanner = table.getScanner(scans.remove());
      } else if (!ask()) {
        return null;
      }
    }
  }

  /** Gets the lines of single numbers up to the next range, and has that scanned afterwards. */
  private boolean ask() throws IOException {
    List<Get> gets = new ArrayList<>();
    while (left > 0 && gets.size() < BATCH && scans.isEmpty() && asked.next()) {
      left--;
      if (asked.first() == asked.last()) {
        gets.add(get(split.places().key(asked.first())));
        continue;
      }
      for (RegionRows.Range range : split.places().ranges(asked.first(), asked.last())) {
        scans.add(Tables.scan(split.rest()).withStartRow(range.start).withStopRow(range.stop));
      }
    }
    got = gets.isEmpty() ? new Result[0] : table.get(gets);
    at = 0;
    return !gets.isEmpty() || !scans.isEmpty();
  }

  /** Leaves blocks in the servers' caches, as gets do unless they are told otherwise. */
  private Get get(byte[] key) {
    Get get = new Get(key).addFamily(Tables.FAMILY);
    return split.rest() ? get.addFamily(Tables.REST_FAMILY) : get;
  }

  @Override
  public LongWritable getCurrentKey() {
    return number;
  }

  @Override
  public Text getCurrentValue() {
    return line;
  }

  @Override
  public float getProgress() {
    return Math.min(1f, (number.get() + 1f) / Math.max(1, split.lines()));
  }

  private void endScan() {
    if (scanner != null) {
      scanner.close();
      scanner = null;
    }
  }

  @Override
  public void close() throws IOException {
    endScan();
    if (asked != null) {
      asked.close();
      table.close();
    }
  }
}

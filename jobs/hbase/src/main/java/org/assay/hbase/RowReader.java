package org.assay.hbase;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The lines of a split, by scans of the servers or of the files in a snapshot; rows alone by gets.
 */
final class RowReader extends RecordReader<LongWritable, Text> {
  /** How many gets go to the servers together. */
  static final int GETS = 500;

  private final LongWritable number = new LongWritable(-1);
  private final Text line = new Text();
  private final Deque<RowSplit.Part> parts = new ArrayDeque<>();
  private Configuration conf;
  private RowSplit split;
  private Table table;
  private Rows rows;

  /** Rows until there are no more: null. */
  private interface Rows extends Closeable {
    Result next() throws IOException;
  }

  @Override
  public void initialize(InputSplit given, TaskAttemptContext task) {
    begin((RowSplit) given, task.getConfiguration(), null);
  }

  /** Reads from a table, which it closes; null stands for the split's, once it is needed. */
  void begin(RowSplit wanted, Configuration job, Table from) {
    split = wanted;
    conf = job;
    table = from;
    parts.addAll(wanted.parts());
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    Result row = next();
    if (row == null) {
      return false;
    }
    Cell cell = cell(row, Tables.FAMILY, Tables.LINE);
    number.set(number.get() + 1);
    line.set(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
    if (split.rest()) {
      Cell rest = cell(row, Tables.REST_FAMILY, Tables.REST);
      line.append(rest.getValueArray(), rest.getValueOffset(), rest.getValueLength());
    }
    return true;
  }

  /**
   * A row has one or two cells: to compare them takes less time than HBase's own search does.
   *
   * @throws IOException for a row without it, which is not whole
   */
  static Cell cell(Result row, byte[] family, byte[] column) throws IOException {
    for (Cell cell : row.rawCells()) {
      if (CellUtil.matchingColumn(cell, family, column)) {
        return cell;
      }
    }
    throw new IOException(
        "row "
            + row
            + " has lost "
            + Bytes.toString(family)
            + ":"
            + Bytes.toString(column)
            + ", or was not written by this module");
  }

  private Result next() throws IOException {
    while (true) {
      Result row = rows == null ? null : rows.next();
      if (row != null) {
        return row;
      }
      endPart();
      if (parts.isEmpty()) {
        return null;
      }
      rows = parts.element().isRow() ? got() : scanned(parts.remove());
    }
  }

  private Table table() throws IOException {
    if (table == null) {
      table = SharedConnections.of(conf).getTable(split.table());
    }
    return table;
  }

  /** The rows alone that come next, in their order, by one call. */
  private Rows got() throws IOException {
    List<Get> gets = new ArrayList<>();
    while (gets.size() < GETS && !parts.isEmpty() && parts.element().isRow()) {
      gets.add(Tables.get(parts.remove().start, split.rest()));
    }
    Result[] found = table().get(gets);
    return new Rows() {
      private int at;

      @Override
      public Result next() throws IOException {
        if (at == found.length) {
          return null;
        }
        Result row = found[at];
        if (row.isEmpty()) {
          String key = Bytes.toStringBinary(gets.get(at).getRow());
          throw new IOException("table " + split.table() + " has lost row " + key);
        }
        at++;
        return row;
      }

      @Override
      public void close() {}
    };
  }

  private Rows scanned(RowSplit.Part part) throws IOException {
    if (part.snapshot != null) {
      return new FileRows(HBaseConfiguration.create(conf), part.snapshot);
    }
    Scan scan = Tables.scan(split.rest()).withStartRow(part.start).withStopRow(part.stop);
    ResultScanner scanner = table().getScanner(scan);
    return new Rows() {
      @Override
      public Result next() throws IOException {
        return scanner.next();
      }

      @Override
      public void close() {
        scanner.close();
      }
    };
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
    return Math.min(1f, (number.get() + 1f) / Math.max(1, split.rows()));
  }

  private void endPart() throws IOException {
    if (rows != null) {
      rows.close();
      rows = null;
    }
  }

  @Override
  public void close() throws IOException {
    endPart();
    if (table != null) {
      table.close();
    }
  }

  /** Rows of a region's files in a snapshot, without a server. */
  static final class FileRows implements Rows {
    private final TableSnapshotInputFormatImpl.RecordReader reader =
        new TableSnapshotInputFormatImpl.RecordReader();

    FileRows(Configuration conf, TableSnapshotInputFormatImpl.InputSplit region)
        throws IOException {
      reader.initialize(region, conf);
    }

    @Override
    public Result next() throws IOException {
      return reader.nextKeyValue() ? reader.getCurrentValue() : null;
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}

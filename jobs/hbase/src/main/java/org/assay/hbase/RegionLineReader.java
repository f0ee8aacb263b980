package org.assay.hbase;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** The lines of a region, by a scan of its server or of its files in a snapshot. */
final class RegionLineReader extends RecordReader<LongWritable, Text> {
  private final LongWritable number = new LongWritable(-1);
  private final Text line = new Text();
  private Rows rows;
  private boolean done;

  /** Rows until there are no more: null. */
  private interface Rows {
    Result next() throws IOException;

    void close() throws IOException;
  }

  @Override
  public void initialize(InputSplit given, TaskAttemptContext task) throws IOException {
    RegionSplit split = (RegionSplit) given;
    Configuration conf = HBaseConfiguration.create(task.getConfiguration());
    rows = split.snapshot() == null ? new ScannedRows(conf, split) : new FileRows(conf, split);
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    Result row = rows.next();
    if (row == null) {
      done = true;
      return false;
    }
    Cell cell = row.getColumnLatestCell(Tables.FAMILY, Tables.LINE);
    if (cell == null) {
      throw new IOException("row " + row + " has no line: it was not written by this module");
    }
    number.set(number.get() + 1);
    line.set(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
    return true;
  }

  @Override
  public LongWritable getCurrentKey() {
    return number;
  }

  @Override
  public Text getCurrentValue() {
    return line;
  }

  /** Nobody knows how many rows a region has. */
  @Override
  public float getProgress() {
    return done ? 1 : 0;
  }

  @Override
  public void close() throws IOException {
    if (rows != null) {
      rows.close();
    }
  }

  private static final class ScannedRows implements Rows {
    private final Connection connection;
    private final Table table;
    private final ResultScanner scanner;

    ScannedRows(Configuration conf, RegionSplit split) throws IOException {
      connection = ConnectionFactory.createConnection(conf);
      table = connection.getTable(split.table());
      scanner =
          table.getScanner(Tables.scan().withStartRow(split.start()).withStopRow(split.stop()));
    }

    @Override
    public Result next() throws IOException {
      return scanner.next();
    }

    @Override
    public void close() throws IOException {
      scanner.close();
      table.close();
      connection.close();
    }
  }

  private static final class FileRows implements Rows {
    private final TableSnapshotInputFormatImpl.RecordReader reader =
        new TableSnapshotInputFormatImpl.RecordReader();

    FileRows(Configuration conf, RegionSplit split) throws IOException {
      reader.initialize(split.snapshot(), conf);
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

package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.mapreduce.TableInputFormat;
import org.apache.hadoop.hbase.mapreduce.TableMapReduceUtil;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.assay.rows.RegionRows;
import org.assay.rows.Rows;

/** Snapshots of tables, whose files jobs read without the region servers. */
final class Snapshots {
  private static final String SUFFIX = "-scan";
  private static final String RESTORED = "restored";

  private Snapshots() {}

  /**
   * The parts of a table's snapshot, one for each region. The snapshot is taken when a job first
   * reads the table, and stays: what is written later is in none.
   */
  static List<TableSnapshotInputFormatImpl.InputSplit> splits(Tables tables, TableName table)
      throws IOException {
    String name = name(table);
    Path restored = Tables.directory(tables.conf(), table, RESTORED);
    Configuration conf = new Configuration(tables.conf());
    conf.set(TableInputFormat.SCAN, TableMapReduceUtil.convertScanToString(Tables.scan(false)));
    if (tables.admin().listSnapshots(pattern(table)).isEmpty()) {
      tables.admin().snapshot(name, table);
    }
    // It is restored into a directory of its own below this one.
    TableSnapshotInputFormatImpl.setInput(conf, name, restored);
    return new ArrayList<>(TableSnapshotInputFormatImpl.getSplits(conf));
  }

  /**
   * Some keys of a region, as a task gets them.
   *
   * @param region the whole of it
   */
  @SuppressWarnings("deprecation") // HBase 2.6 takes nothing newer
  static byte[] part(
      TableSnapshotInputFormatImpl.InputSplit region, RegionRows.Range range, boolean rest)
      throws IOException {
    Scan scan = Tables.scan(rest).withStartRow(range.start).withStopRow(range.stop);
    DataOutputBuffer part = new DataOutputBuffer();
    new TableSnapshotInputFormatImpl.InputSplit(
            region.getTableDescriptor(),
            region.getRegionInfo(),
            List.of(region.getLocations()),
            scan,
            new Path(region.getRestoreDir()))
        .write(part);
    return Arrays.copyOf(part.getData(), part.getLength());
  }

  /** The same, in a task. */
  static TableSnapshotInputFormatImpl.InputSplit part(byte[] written) throws IOException {
    DataInputBuffer in = new DataInputBuffer();
    in.reset(written, written.length);
    TableSnapshotInputFormatImpl.InputSplit part = new TableSnapshotInputFormatImpl.InputSplit();
    part.readFields(in);
    return part;
  }

  /** Rows of a region's files, without a server. */
  static Rows rows(Configuration conf, TableSnapshotInputFormatImpl.InputSplit part, boolean rest)
      throws IOException {
    TableSnapshotInputFormatImpl.RecordReader reader =
        new TableSnapshotInputFormatImpl.RecordReader();
    reader.initialize(part, conf);
    return new Results(
        () -> reader.nextKeyValue() ? reader.getCurrentValue() : null, reader::close, rest);
  }

  /** No other table's snapshot has the same: no namespace has a dash. */
  static String name(TableName table) {
    return table.getNamespaceAsString() + "-" + table.getQualifierAsString() + SUFFIX;
  }

  private static Pattern pattern(TableName table) {
    return Pattern.compile(Pattern.quote(name(table)));
  }

  /** Removes the snapshot of a table, or of an earlier one of that name, and what was restored. */
  static void drop(Tables tables, TableName table) throws IOException {
    tables.admin().deleteSnapshots(pattern(table));
    Path restored = Tables.directory(tables.conf(), table, RESTORED);
    restored.getFileSystem(tables.conf()).delete(restored, true);
  }
}

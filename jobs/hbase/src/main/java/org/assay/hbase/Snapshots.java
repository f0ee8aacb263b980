package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.mapreduce.TableInputFormat;
import org.apache.hadoop.hbase.mapreduce.TableMapReduceUtil;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;

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
    String name = table.getQualifierAsString() + SUFFIX;
    Path restored = Tables.directory(tables.conf(), table, RESTORED);
    Configuration conf = new Configuration(tables.conf());
    conf.set(TableInputFormat.SCAN, TableMapReduceUtil.convertScanToString(Tables.scan(false)));
    if (tables.admin().listSnapshots(Pattern.compile(Pattern.quote(name))).isEmpty()) {
      tables.admin().snapshot(name, table);
    }
    // It is restored into a directory of its own below this one.
    TableSnapshotInputFormatImpl.setInput(conf, name, restored);
    return new ArrayList<>(TableSnapshotInputFormatImpl.getSplits(conf));
  }

  /** Removes a table's snapshot and what was restored of it. */
  static void drop(Tables tables, TableName table) throws IOException {
    Pattern name = Pattern.compile(Pattern.quote(table.getQualifierAsString() + SUFFIX));
    tables.admin().deleteSnapshots(name);
    Path restored = Tables.directory(tables.conf(), table, RESTORED).getParent();
    FileSystem files = restored.getFileSystem(tables.conf());
    files.delete(restored, true);
  }
}

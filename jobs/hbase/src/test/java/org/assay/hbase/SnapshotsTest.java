package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.regionserver.HRegionFileSystem;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.io.Text;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.Rows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotsTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");
  private static final RegionInfo REGION =
      RegionInfoBuilder.newBuilder(TABLE)
          .setStartKey(Bytes.toBytes("b"))
          .setEndKey(Bytes.toBytes("d"))
          .build();
  private static final RegionRows.Range RANGE =
      new RegionRows.Range(0, Bytes.toBytes("b"), Bytes.toBytes("c"), 10, 0);

  @TempDir java.nio.file.Path directory;

  private static TableDescriptor descriptor() {
    return Tables.descriptor(TABLE, new TableSettings(new Configuration(false)));
  }

  private static TableSnapshotInputFormatImpl.InputSplit snapshot(
      RegionInfo region, Scan scan, String restored) {
    return snapshot(descriptor(), region, scan, restored);
  }

  @SuppressWarnings("deprecation") // HBase 2.6 takes nothing newer
  private static TableSnapshotInputFormatImpl.InputSplit snapshot(
      TableDescriptor table, RegionInfo region, Scan scan, String restored) {
    return new TableSnapshotInputFormatImpl.InputSplit(
        table,
        new org.apache.hadoop.hbase.HRegionInfo(region),
        List.of("worker-1"),
        scan,
        new Path(restored));
  }

  @Test
  void tasksGetTheKeysOfARegionThatWerePlanned() throws IOException {
    TableSnapshotInputFormatImpl.InputSplit whole =
        snapshot(REGION, Tables.scan(false), "/restored");
    TableSnapshotInputFormatImpl.InputSplit part =
        Snapshots.part(Snapshots.part(whole, RANGE, false));
    assertEquals(REGION.getEncodedName(), part.getRegionInfo().getEncodedName());
    assertEquals("/restored", part.getRestoreDir());
  }

  @Test
  void aFilterThatDropsManyRowsDoesNotEndAScanOfASnapshot() throws IOException {
    // HBASE-26630: a batch in which no row passed was taken for the region's end.
    Configuration conf = HBaseConfiguration.create();
    Path root = new Path(directory.toUri());
    conf.set("hbase.rootdir", root.toString());
    FileSystem files = root.getFileSystem(conf);
    RegionInfo region = RegionInfoBuilder.newBuilder(TABLE).build();
    Path table = CommonFSUtils.getTableDir(root, TABLE);
    Path place =
        HRegionFileSystem.createRegionOnFileSystem(conf, files, table, region).getRegionDir();
    RowKeys keys = new RowKeys(0, 0, 1);
    int rows = 50_000;
    try (FileWriter writer = new FileWriter(conf, TABLE, place, "f00d", keys, 0)) {
      for (int row = 1; row <= rows; row++) {
        byte[] line = Bytes.toBytes(row % (rows / 2) == 0 ? "wanted" : "another");
        writer.write(line, 0, line.length);
      }
    }
    ValueFilter wanted =
        new ValueFilter(CompareOperator.EQUAL, new BinaryComparator(Bytes.toBytes("wanted")));
    Scan scan = Tables.scan(false).setFilter(wanted).setMaxResultSize(1000).setCaching(10);
    int found = 0;
    try (Rows read = Snapshots.rows(conf, snapshot(region, scan, root.toString()), false)) {
      Text line = new Text();
      while (read.next(line)) {
        assertEquals("wanted", line.toString());
        found++;
      }
    }
    assertEquals(2, found);
  }

  @Test
  void theRestOfLinesIsReadWhereItIsWanted() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    Path root = new Path(directory.toUri());
    conf.set("hbase.rootdir", root.toString());
    conf.set(TableSettings.COLUMNS, "used-apart");
    conf.setInt(TableSettings.USED, 2);
    FileSystem files = root.getFileSystem(conf);
    RegionInfo region = RegionInfoBuilder.newBuilder(TABLE).build();
    Path table = CommonFSUtils.getTableDir(root, TABLE);
    Path place =
        HRegionFileSystem.createRegionOnFileSystem(conf, files, table, region).getRegionDir();
    try (FileWriter writer = new FileWriter(conf, TABLE, place, "f00d", new RowKeys(0, 0, 1), 2)) {
      for (String line : List.of("1,2,3", "4 5", "6,7,8,9")) {
        writer.write(Bytes.toBytes(line), 0, line.length());
      }
    }
    TableDescriptor divided = Tables.descriptor(TABLE, new TableSettings(conf));
    RegionRows.Range all = new RegionRows.Range(0, new byte[0], new byte[0], 3, 0);
    for (boolean rest : new boolean[] {true, false}) {
      byte[] part =
          Snapshots.part(snapshot(divided, region, Tables.scan(rest), root.toString()), all, rest);
      List<String> lines = new ArrayList<>();
      try (Rows read = HbaseStore.INSTANCE.files(conf, part, rest)) {
        Text line = new Text();
        while (read.next(line)) {
          lines.add(line.toString());
        }
      }
      assertEquals(rest ? List.of("1,2,3", "4 5", "6,7,8,9") : List.of("1,2", "4 5", "6,7"), lines);
    }
  }
}

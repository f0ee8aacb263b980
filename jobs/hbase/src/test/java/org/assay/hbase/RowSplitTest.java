package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.regionserver.HRegionFileSystem;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowSplitTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");
  private static final RegionInfo REGION =
      RegionInfoBuilder.newBuilder(TABLE)
          .setStartKey(Bytes.toBytes("b"))
          .setEndKey(Bytes.toBytes("d"))
          .build();
  private static final RegionRows.Range RANGE =
      new RegionRows.Range(0, Bytes.toBytes("b"), Bytes.toBytes("c"), 10, 0);

  @TempDir java.nio.file.Path directory;

  /** The split as a task gets it. */
  static RowSplit copied(InputSplit split) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    ((RowSplit) split).write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    RowSplit copy = new RowSplit();
    copy.readFields(in);
    assertEquals(0, in.available());
    return copy;
  }

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

  private static RowSplit split(RowSplit.Part part, long bytes) {
    return split(part, bytes, true);
  }

  private static RowSplit split(RowSplit.Part part, long bytes, boolean rest) {
    return new RowSplit(TABLE, List.of(part), new String[] {"worker-1"}, 10, bytes, rest);
  }

  @Test
  void aSplitWithoutBytesIsNoSplitWithoutLength() throws IOException {
    // HBASE-29272: engines that skip empty splits read nothing of a snapshot of HBase 2.6.
    TableSnapshotInputFormatImpl.InputSplit whole =
        snapshot(REGION, Tables.scan(false), "/restored");
    assertEquals(0, whole.getLength());
    assertEquals(1, split(RowSplit.Part.ofSnapshot(RANGE, whole, false), 0).getLength());
    assertEquals(1, split(RowSplit.Part.ofTable(RANGE), 0).getLength());
    RowSplit large = split(RowSplit.Part.ofSnapshot(RANGE, whole, false), 70_000);
    assertEquals(70_000, copied(large).getLength());
  }

  @Test
  void tasksGetWhatWasPlanned() throws IOException {
    RowSplit scanned = copied(split(RowSplit.Part.ofTable(RANGE), 5));
    assertEquals(TABLE, scanned.table());
    assertArrayEquals(Bytes.toBytes("b"), scanned.parts().get(0).start);
    assertArrayEquals(Bytes.toBytes("c"), scanned.parts().get(0).stop);
    assertArrayEquals(new String[] {"worker-1"}, scanned.getLocations());
    assertEquals(null, scanned.parts().get(0).snapshot);
    assertEquals(10, scanned.rows());
    assertTrue(scanned.rest());
    TableSnapshotInputFormatImpl.InputSplit whole =
        snapshot(REGION, Tables.scan(false), "/restored");
    RowSplit ofFiles = copied(split(RowSplit.Part.ofSnapshot(RANGE, whole, false), 5));
    TableSnapshotInputFormatImpl.InputSplit part = ofFiles.parts().get(0).snapshot;
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
    try (RowReader.FileRows read =
        new RowReader.FileRows(conf, snapshot(region, scan, root.toString()))) {
      for (Result row = read.next(); row != null; row = read.next()) {
        assertFalse(row.isEmpty());
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
      RowSplit.Part part =
          RowSplit.Part.ofSnapshot(
              all, snapshot(divided, region, Tables.scan(rest), root.toString()), rest);
      List<String> lines = new ArrayList<>();
      try (RowReader reader = new RowReader()) {
        reader.initialize(
            split(part, 0, rest), new TaskAttemptContextImpl(conf, new TaskAttemptID()));
        while (reader.nextKeyValue()) {
          lines.add(reader.getCurrentValue().toString());
        }
      }
      assertEquals(rest ? List.of("1,2,3", "4 5", "6,7,8,9") : List.of("1,2", "4 5", "6,7"), lines);
    }
  }
}

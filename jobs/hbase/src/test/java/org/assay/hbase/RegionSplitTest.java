package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

class RegionSplitTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");
  private static final RegionInfo REGION =
      RegionInfoBuilder.newBuilder(TABLE)
          .setStartKey(Bytes.toBytes("b"))
          .setEndKey(Bytes.toBytes("d"))
          .build();

  private static RegionSplit copied(RegionSplit split) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    split.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    RegionSplit copy = new RegionSplit();
    copy.readFields(in);
    assertEquals(0, in.available());
    return copy;
  }

  @SuppressWarnings("deprecation") // HBase 2.6 takes nothing newer
  private static TableSnapshotInputFormatImpl.InputSplit part() {
    return new TableSnapshotInputFormatImpl.InputSplit(
        TableDescriptorBuilder.newBuilder(TABLE)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of(Tables.FAMILY))
            .build(),
        new org.apache.hadoop.hbase.HRegionInfo(REGION),
        List.of("worker-1"),
        Tables.scan(),
        new Path("/restored"));
  }

  @Test
  void aRegionWithoutBytesIsNoSplitWithoutLength() throws IOException {
    // HBASE-29272: engines that skip empty splits read nothing of a snapshot of HBase 2.6.
    assertEquals(0, part().getLength());
    assertEquals(1, RegionSplit.ofSnapshot(part(), 0).getLength());
    assertEquals(1, RegionSplit.ofTable(REGION, "worker-1", 0).getLength());
    assertEquals(70_000, copied(RegionSplit.ofSnapshot(part(), 70_000)).getLength());
  }

  @Test
  void tasksGetWhatWasPlanned() throws IOException {
    RegionSplit scanned = copied(RegionSplit.ofTable(REGION, "worker-1", 5));
    assertEquals(TABLE, scanned.table());
    assertArrayEquals(Bytes.toBytes("b"), scanned.start());
    assertArrayEquals(Bytes.toBytes("d"), scanned.stop());
    assertArrayEquals(new String[] {"worker-1"}, scanned.getLocations());
    assertEquals(null, scanned.snapshot());
    RegionSplit ofFiles = copied(RegionSplit.ofSnapshot(part(), 5));
    assertEquals(REGION.getEncodedName(), ofFiles.snapshot().getRegionInfo().getEncodedName());
    assertEquals("/restored", ofFiles.snapshot().getRestoreDir());
  }
}

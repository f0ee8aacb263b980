package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.Test;

class RegionSamplesTest {
  private static RegionInfo region(byte[] start, byte[] stop) {
    return RegionInfoBuilder.newBuilder(TableName.valueOf("runs.input"))
        .setStartKey(start)
        .setEndKey(stop)
        .build();
  }

  /** Their lines get longer, from {@code least} bytes, by a byte every 100 rows. */
  private static RowsInMemory longerAndLonger(int least, int... rowsOfWriters) {
    RowsInMemory rows = new RowsInMemory();
    for (int writer = 0; writer < rowsOfWriters.length; writer++) {
      RowKeys keys = new RowKeys(writer, 0, 1);
      for (int row = 0; row < rowsOfWriters[writer]; row++) {
        rows.add(keys.next(), least + row / 100);
      }
    }
    return rows;
  }

  private static RegionRows found(RowsInMemory rows, byte[] start, byte[] stop) throws Exception {
    return RegionSamples.of(rows.table(), region(start, stop), false);
  }

  @Test
  void lineLengthsThatGoWithThePositionAreEstimatedRightly() throws Exception {
    byte[] open = HConstants.EMPTY_BYTE_ARRAY;
    List<RegionRows.Run> runs = found(longerAndLonger(9, 10_000, 40), open, open).runs;
    assertEquals(2, runs.size());
    assertEquals(10_000, runs.get(0).rows);
    assertEquals(10_000 * (9 + 49.5 + 1), (double) runs.get(0).bytes, 5000);
    assertEquals(40, runs.get(1).rows);
    assertEquals(40 * (9 + 1), runs.get(1).bytes);
  }

  @Test
  void aWriterWhoseRowsWereSplitByHandIsCountedOnce() throws Exception {
    RowsInMemory rows = longerAndLonger(9, 100, 1000, 100);
    byte[] writer = new RowKeys(1, 0, 1).writer();
    byte[] open = HConstants.EMPTY_BYTE_ARRAY;
    byte[] third = Bytes.add(RowKeys.key(writer, 300), new byte[] {0});
    byte[][] ends = {open, RowKeys.key(writer, 200), third, RowKeys.key(writer, 999), open};
    List<RegionRows> regions = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    for (int region = 0; region + 1 < ends.length; region++) {
      regions.add(found(rows, ends[region], ends[region + 1]));
      regions.get(region).runs.forEach(run -> counts.add(run.rows));
    }
    assertEquals(List.of(100L, 200L, 101L, 698L, 1L, 100L), counts);
    for (int parts : new int[] {1, 2, 5, 12, 100}) {
      byte[] reached = open;
      long sum = 0;
      for (List<RegionRows.Range> part : RegionRows.cut(regions, 17_000 / parts)) {
        for (RegionRows.Range range : part) {
          assertArrayEquals(reached, range.start);
          reached = range.stop;
          sum += range.rows;
        }
      }
      assertEquals(0, reached.length);
      assertEquals(1200, sum);
    }
  }

  @Test
  void rowsOfSomebodyElseAreNotCounted() throws Exception {
    RowsInMemory rows = new RowsInMemory();
    rows.add(Bytes.toBytes("theirs"), 100);
    byte[] open = HConstants.EMPTY_BYTE_ARRAY;
    assertTrue(found(rows, open, open).runs.isEmpty());
    assertTrue(found(new RowsInMemory(), open, open).runs.isEmpty());
  }
}

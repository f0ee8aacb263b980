package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

class RegionRowsTest {
  /** Regions of a table, each with the rows of some writers, of so many bytes each. */
  private static List<RegionRows> regions(long[][] rows, long bytes) {
    byte[][] splits = RowKeys.splits(rows.length);
    List<RegionRows> regions = new ArrayList<>();
    for (int region = 0; region < rows.length; region++) {
      List<RegionRows.Run> runs = new ArrayList<>();
      for (int writer = 0; writer < rows[region].length; writer++) {
        byte[] name = new RowKeys(writer, region, rows.length).writer();
        runs.add(new RegionRows.Run(name, 0, rows[region][writer], rows[region][writer] * bytes));
      }
      regions.add(
          new RegionRows(
              region == 0 ? HConstants.EMPTY_BYTE_ARRAY : splits[region - 1],
              region == splits.length ? HConstants.EMPTY_BYTE_ARRAY : splits[region],
              runs));
    }
    return regions;
  }

  /** All keys are in one part each: ranges follow each other from the table's start to its end. */
  private static void assertWhole(List<RegionRows> regions, List<List<RegionRows.Range>> parts) {
    byte[] reached = HConstants.EMPTY_BYTE_ARRAY;
    long rows = 0;
    for (List<RegionRows.Range> part : parts) {
      assertTrue(!part.isEmpty());
      for (RegionRows.Range range : part) {
        assertArrayEquals(reached, range.start);
        assertTrue(range.stop.length == 0 || Bytes.compareTo(range.start, range.stop) < 0);
        RegionRows region = regions.get(range.region);
        assertTrue(Bytes.compareTo(region.start, range.start) <= 0);
        assertTrue(region.stop.length == 0 || Bytes.compareTo(range.stop, region.stop) <= 0);
        reached = range.stop;
        rows += range.rows;
      }
    }
    assertEquals(0, reached.length);
    long expected = regions.stream().flatMap(r -> r.runs.stream()).mapToLong(r -> r.rows).sum();
    assertEquals(expected, rows);
  }

  private static long rows(List<RegionRows.Range> part) {
    return part.stream().mapToLong(range -> range.rows).sum();
  }

  @Test
  void partsHaveAboutABlockHoweverManyRegionsThereAre() {
    for (int count : new int[] {1, 3, 8, 40}) {
      long[][] rows = new long[count][1];
      for (long[] region : rows) {
        region[0] = 120_000 / count;
      }
      List<RegionRows> regions = regions(rows, 10);
      List<List<RegionRows.Range>> parts = RegionRows.cut(regions, 200_000);
      assertWhole(regions, parts);
      assertEquals(6, parts.size());
      for (List<RegionRows.Range> part : parts) {
        assertEquals(20_000, (double) rows(part), 50);
      }
    }
  }

  @Test
  void aLittleMoreThanABlockIsOnePart() {
    List<RegionRows> regions = regions(new long[][] {{55}, {54}}, 1);
    assertEquals(1, RegionRows.cut(regions, 100).size());
    assertEquals(2, RegionRows.cut(regions, 98).size());
  }

  @Test
  void aTableWithoutRowsIsOnePartWithAllItsRegions() {
    List<RegionRows> regions = regions(new long[][] {{}, {}, {}}, 1);
    List<List<RegionRows.Range>> parts = RegionRows.cut(regions, 100);
    assertEquals(1, parts.size());
    assertWhole(regions, parts);
  }

  /** How many splits Hadoop makes of a file: see FileInputFormat. */
  private static int splits(long bytes, long splitBytes) {
    int splits = 0;
    long left = bytes;
    while ((double) left / splitBytes > 1.1) {
      splits++;
      left -= splitBytes;
    }
    return left > 0 ? splits + 1 : splits;
  }

  @Test
  void aTableHasAsManyPartsAsAFileOfItsBytesHasSplits() {
    Random random = new Random(2);
    for (int round = 0; round < 500; round++) {
      long[][] rows = new long[1 + random.nextInt(12)][1];
      long bytes = 0;
      for (long[] region : rows) {
        region[0] = 1000L + random.nextInt(9000);
        bytes += 10 * region[0];
      }
      long partBytes = 1000L + random.nextInt(200_000);
      List<RegionRows> regions = regions(rows, 10);
      assertEquals(splits(bytes, partBytes), RegionRows.cut(regions, partBytes).size());
    }
  }

  @Test
  void aPartEndsWithARegionThatEndsNearby() {
    List<RegionRows> regions = regions(new long[][] {{1010}, {995}, {1002}, {993}}, 10);
    List<List<RegionRows.Range>> parts = RegionRows.cut(regions, 10_000);
    assertWhole(regions, parts);
    assertEquals(4, parts.size());
    for (List<RegionRows.Range> part : parts) {
      assertEquals(1, part.size());
    }
  }

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
    return RegionRows.of(rows.table(), region(start, stop), false);
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
      List<List<RegionRows.Range>> cut = RegionRows.cut(regions, 17_000 / parts);
      assertWhole(regions, cut);
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

  @Test
  void noKeyIsLostOrReadTwiceWhateverTheWritersLeft() {
    Random random = new Random(1);
    for (int round = 0; round < 500; round++) {
      long[][] rows = new long[1 + random.nextInt(6)][];
      for (int region = 0; region < rows.length; region++) {
        rows[region] = new long[random.nextInt(4)];
        for (int writer = 0; writer < rows[region].length; writer++) {
          rows[region][writer] = 1L + random.nextInt(30);
        }
      }
      List<RegionRows> regions = regions(rows, 1 + random.nextInt(5));
      assertWhole(regions, RegionRows.cut(regions, 1 + random.nextInt(40)));
    }
  }
}

package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.HConstants;
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
        runs.add(new RegionRows.Run(name, rows[region][writer], rows[region][writer] * bytes));
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

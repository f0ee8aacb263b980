package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
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
              region == 0 ? new byte[0] : splits[region - 1],
              region == splits.length ? new byte[0] : splits[region],
              runs));
    }
    return regions;
  }

  /** All keys are in one part each: ranges follow each other from the table's start to its end. */
  private static void assertWhole(List<RegionRows> regions, List<List<RegionRows.Range>> parts) {
    byte[] reached = new byte[0];
    long rows = 0;
    for (List<RegionRows.Range> part : parts) {
      assertTrue(!part.isEmpty());
      for (RegionRows.Range range : part) {
        assertArrayEquals(reached, range.start);
        assertTrue(range.stop.length == 0 || Arrays.compareUnsigned(range.start, range.stop) < 0);
        RegionRows region = regions.get(range.region);
        assertTrue(Arrays.compareUnsigned(region.start, range.start) <= 0);
        assertTrue(region.stop.length == 0 || Arrays.compareUnsigned(range.stop, region.stop) <= 0);
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
  void wholeRegionsAreInAboutAsManyPartsAsThereAreBlocks() {
    for (int count : new int[] {1, 3, 8, 40}) {
      long[][] rows = new long[count][1];
      for (int region = 0; region < count; region++) {
        rows[region][0] = 60_000L / count + region;
      }
      List<RegionRows> regions = regions(rows, 10);
      List<List<RegionRows.Range>> parts = RegionRows.together(regions, 100_000);
      assertWhole(regions, parts);
      assertEquals(Math.min(count, 6), parts.size());
      for (List<RegionRows.Range> part : parts) {
        for (RegionRows.Range range : part) {
          assertEquals(rows[range.region][0], range.rows);
        }
      }
    }
    assertEquals(List.of(), RegionRows.together(List.of(), 100));
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

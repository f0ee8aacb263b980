package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RowKeysTest {
  /** The region that a key falls into. */
  private static int region(byte[] key, byte[][] splits) {
    int region = 0;
    while (region < splits.length && Arrays.compareUnsigned(key, splits[region]) >= 0) {
      region++;
    }
    return region;
  }

  @Test
  void writersAsManyAsRegionsHaveOneEach() {
    for (int regions : new int[] {1, 2, 3, 7, 16, 300}) {
      byte[][] splits = RowKeys.splits(regions);
      assertEquals(regions - 1, splits.length);
      for (int place = 0; place < regions; place++) {
        assertEquals(place, region(new RowKeys(7, place, regions).next(), splits));
      }
    }
  }

  @Test
  void aPlaceIsKnownByItsWriterHoweverManyThereAre() {
    for (int places = 1; places <= 40; places++) {
      for (int place = 0; place < places; place++) {
        assertEquals(place, RowKeys.place(new RowKeys(3, place, places).writer(), places));
      }
      assertEquals(places - 1, RowKeys.place(new RowKeys(3, 999, 1000).writer(), places));
    }
  }

  @Test
  void allKeysOfAWriterAreInOneRegionHoweverManyWritersThereAre() {
    byte[][] splits = RowKeys.splits(4);
    Set<Integer> used = new HashSet<>();
    for (int place = 0; place < 10; place++) {
      RowKeys keys = new RowKeys(7, place, 10);
      int region = region(keys.next(), splits);
      used.add(region);
      for (int i = 0; i < 1000; i++) {
        assertEquals(region, region(keys.next(), splits));
      }
    }
    assertEquals(4, used.size());
  }

  @Test
  void keysRiseAndTellWritersApart() {
    RowKeys keys = new RowKeys(RowKeys.number("one"), 3, 4);
    byte[] last = keys.next();
    for (int i = 0; i < 70_000; i++) {
      byte[] next = keys.next();
      assertTrue(Arrays.compareUnsigned(last, next) < 0);
      last = next;
    }
    byte[] same = new RowKeys(RowKeys.number("one"), 3, 4).next();
    assertArrayEquals(same, new RowKeys(RowKeys.number("one"), 3, 4).next());
    assertFalse(Arrays.equals(same, new RowKeys(RowKeys.number("two"), 3, 4).next()));
    assertEquals(RowKeys.LENGTH, same.length);
  }

  @Test
  void aKeyTellsItsWriterAndHowManyRowsCameBefore() {
    RowKeys keys = new RowKeys(5, 3, 4);
    keys.next();
    byte[] second = keys.next();
    assertTrue(RowKeys.isKey(second));
    assertFalse(RowKeys.isKey(keys.writer()));
    assertArrayEquals(keys.writer(), RowKeys.writer(second));
    assertEquals(1, RowKeys.count(second));
    assertArrayEquals(second, RowKeys.key(keys.writer(), 1));
  }

  @Test
  void aRegionMayBeginAmongTheKeysOfAWriter() {
    byte[] writer = new RowKeys(5, 3, 4).writer();
    byte[] key = RowKeys.key(writer, 0x0102);
    assertEquals(0, RowKeys.before(writer, new byte[0]));
    assertEquals(0, RowKeys.before(writer, Arrays.copyOf(writer, 2)));
    assertEquals(0, RowKeys.before(writer, writer));
    assertEquals(0, RowKeys.before(writer, new RowKeys(4, 3, 4).next()));
    assertEquals(0x0102, RowKeys.before(writer, key));
    assertEquals(0x0100, RowKeys.before(writer, Arrays.copyOf(key, RowKeys.LENGTH - 1)));
    assertEquals(0x0103, RowKeys.before(writer, Arrays.copyOf(key, RowKeys.LENGTH + 1)));
  }

  @Test
  void moreTasksThanThereArePlacesKeepTheirOrder() {
    int tasks = 3 << Short.SIZE;
    byte[] last = new RowKeys(0, 0, tasks).next();
    for (int task = 1; task < tasks; task++) {
      byte[] next = new RowKeys(task, task, tasks).next();
      assertTrue(Arrays.compareUnsigned(last, next) < 0);
      last = next;
    }
  }
}

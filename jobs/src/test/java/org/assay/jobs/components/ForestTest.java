package org.assay.jobs.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A forest names each set by its smallest vertex, and holds no more vertices than it may. */
class ForestTest {
  private static SortedMap<Long, Long> smallest(Forest forest) {
    SortedMap<Long, Long> smallest = new TreeMap<>();
    for (int at = 0; at < forest.size(); at++) {
      smallest.put(forest.vertex(at), forest.smallest(at));
    }
    return smallest;
  }

  @Test
  void randomPairsAreUnitedAsBySlowRelabelling() {
    Random random = new Random(3);
    for (int round = 0; round < 50; round++) {
      Forest forest = new Forest(1000);
      SortedMap<Long, Long> labels = new TreeMap<>();
      for (int pair = 0; pair < 300; pair++) {
        long vertex = random.nextInt(400) * (Long.MAX_VALUE / 400);
        long other = random.nextInt(400) * (Long.MAX_VALUE / 400);
        assertTrue(forest.join(vertex, other));
        labels.putIfAbsent(vertex, vertex);
        labels.putIfAbsent(other, other);
        long label = labels.get(vertex);
        long otherLabel = labels.get(other);
        labels.replaceAll(
            (id, own) -> own == label || own == otherLabel ? Math.min(label, otherLabel) : own);
      }
      assertEquals(labels, smallest(forest));
    }
  }

  @Test
  void whatDoesNotFitChangesNothing() {
    Forest forest = new Forest(3);
    assertTrue(forest.join(9, 4));
    assertFalse(forest.join(1, 2));
    assertTrue(forest.join(4, 9), "both are there");
    assertTrue(forest.join(7, 7), "one vertex fits");
    assertFalse(forest.join(1, 9));
    assertTrue(forest.join(7, 9));
    assertEquals(new TreeMap<>(Map.of(4L, 4L, 7L, 4L, 9L, 4L)), smallest(forest));
    forest.clear();
    assertEquals(0, forest.size());
    assertTrue(forest.join(1, 2));
    assertEquals(new TreeMap<>(Map.of(1L, 1L, 2L, 1L)), smallest(forest));
  }
}

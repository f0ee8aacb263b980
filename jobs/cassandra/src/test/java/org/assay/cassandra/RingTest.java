package org.assay.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Ranges of tokens cover the ring exactly, whatever the nodes' tokens are. */
class RingTest {
  private static final Random RANDOM = new Random(3);

  private static Map<Long, String> owners(int hosts, int tokensOfEach) {
    Map<Long, String> owners = new HashMap<>();
    for (int host = 0; host < hosts; host++) {
      for (int token = 0; token < tokensOfEach; token++) {
        owners.put(RANDOM.nextLong(), "worker-" + host);
      }
    }
    return owners;
  }

  private static BigInteger tokens(Ring.Range range) {
    return BigInteger.valueOf(range.last).subtract(BigInteger.valueOf(range.after));
  }

  private static void assertFollow(List<Ring.Range> ranges, long after, long last) {
    long reached = after;
    for (Ring.Range range : ranges) {
      assertEquals(reached, range.after);
      assertTrue(range.after < range.last);
      reached = range.last;
    }
    assertEquals(last, reached);
  }

  @Test
  void rangesCoverTheRingInEqualPartsHoweverManyAreWanted() {
    for (int hosts : new int[] {1, 2, 5}) {
      for (int tokensOfEach : new int[] {1, 4, 256}) {
        Ring ring = new Ring(owners(hosts, tokensOfEach));
        assertEquals(hosts, ring.hosts());
        for (int wanted = 1; wanted <= 70; wanted++) {
          List<Ring.Range> ranges = ring.cut(wanted);
          assertEquals(wanted, ranges.size());
          assertFollow(ranges, Long.MIN_VALUE, Long.MAX_VALUE);
          BigInteger first = tokens(ranges.get(0));
          for (Ring.Range range : ranges) {
            assertTrue(tokens(range).subtract(first).abs().intValueExact() <= 1);
          }
        }
      }
    }
  }

  /** Who owns a token first: whoever has the next token on the ring, or this one. */
  private static String owner(NavigableMap<Long, String> owners, long token) {
    Map.Entry<Long, String> next = owners.ceilingEntry(token);
    return (next == null ? owners.firstEntry() : next).getValue();
  }

  @Test
  void stretchesOfARangeHaveOneOwnerEachAndTheRangeHasThatOfMost() {
    for (int round = 0; round < 200; round++) {
      TreeMap<Long, String> owners = new TreeMap<>(owners(1 + round % 4, 1 + RANDOM.nextInt(20)));
      owners.put(Long.MIN_VALUE, "worker-0"); // as the first node of an even ring has it
      Ring ring = new Ring(owners);
      for (Ring.Range range : ring.cut(1 + RANDOM.nextInt(30))) {
        Map<String, BigInteger> most = new HashMap<>();
        List<Ring.Range> stretches = ring.stretches(range.after, range.last);
        assertFollow(stretches, range.after, range.last);
        for (Ring.Range stretch : stretches) {
          assertEquals(owner(owners, stretch.after + 1), stretch.host);
          assertEquals(owner(owners, stretch.last), stretch.host);
          most.merge(stretch.host, tokens(stretch), BigInteger::add);
        }
        BigInteger chosen = most.get(range.host);
        most.values().forEach(other -> assertTrue(chosen.doubleValue() >= other.doubleValue()));
      }
    }
  }

  @Test
  void aRangeEndsWithItsLastTokenAndBeginsBehindItsFirst() {
    Ring ring = new Ring(Map.of(-10L, "a", 10L, "b"));
    assertEquals("b", ring.stretches(-10, 10).get(0).host);
    assertEquals(1, ring.stretches(-10, 10).size());
    assertEquals(List.of("a", "b", "a"), hosts(ring.stretches(-11, 11)));
  }

  private static List<String> hosts(List<Ring.Range> ranges) {
    return List.of(ranges.stream().map(range -> range.host).toArray(String[]::new));
  }
}

package org.assay.cassandra;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The ring of tokens of Murmur3Partitioner, and the host that has the first copy of each stretch.
 * The smallest token is no row's: ranges have the tokens after their first up to their last.
 */
final class Ring {
  private static final BigInteger TOKENS = BigInteger.ONE.shiftLeft(Long.SIZE);

  /** Tokens after one up to and with another, and the host that is to read them. */
  static final class Range {
    final long after;
    final long last;
    final String host;

    Range(long after, long last, String host) {
      this.after = after;
      this.last = last;
      this.host = host;
    }
  }

  /** By the last token of each stretch, the host that owns it. */
  private final NavigableMap<Long, String> owners;

  Ring(Map<Long, String> owners) {
    this.owners = new TreeMap<>(owners);
  }

  /** How many hosts have tokens. */
  int hosts() {
    return (int) owners.values().stream().distinct().count();
  }

  /** Ranges of as many tokens each, in order: each has the host that owns most of it. */
  List<Range> cut(int ranges) {
    List<Range> cut = new ArrayList<>();
    for (int number = 0; number < ranges; number++) {
      long after = edge(number, ranges);
      long last = edge(number + 1L, ranges);
      cut.add(new Range(after, last, ownerOfMost(after, last)));
    }
    return cut;
  }

  private static long edge(long number, int ranges) {
    BigInteger passed =
        TOKENS.multiply(BigInteger.valueOf(number)).divide(BigInteger.valueOf(ranges));
    return number == ranges ? Long.MAX_VALUE : Long.MIN_VALUE + passed.longValue();
  }

  private String ownerOfMost(long after, long last) {
    Map<String, Double> tokens = new TreeMap<>();
    for (Range part : stretches(after, last)) {
      tokens.merge(part.host, (double) part.last - (double) part.after, Double::sum);
    }
    return Collections.max(tokens.entrySet(), Map.Entry.comparingByValue()).getKey();
  }

  /** The parts of a range of which one host owns all, in order. */
  List<Range> stretches(long after, long last) {
    List<Range> stretches = new ArrayList<>();
    long reached = after;
    for (Map.Entry<Long, String> end : owners.subMap(after, false, last, false).entrySet()) {
      stretches.add(new Range(reached, end.getKey(), end.getValue()));
      reached = end.getKey();
    }
    Map.Entry<Long, String> next = owners.ceilingEntry(last);
    stretches.add(new Range(reached, last, (next == null ? owners.firstEntry() : next).getValue()));
    return stretches;
  }
}

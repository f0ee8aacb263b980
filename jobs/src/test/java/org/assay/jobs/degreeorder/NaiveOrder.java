package org.assay.jobs.degreeorder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a graph's jobs in degree order must give, by brute force over its canonical lines. */
final class NaiveOrder {
  private final TreeMap<Long, SortedSet<Long>> neighbours = new TreeMap<>();

  NaiveOrder(String... lines) {
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      long first = Long.parseLong(fields[0]);
      near(first);
      if (fields.length == 2) {
        long second = Long.parseLong(fields[1]);
        near(first).add(second);
        near(second).add(first);
      }
    }
  }

  private Set<Long> near(long vertex) {
    return neighbours.computeIfAbsent(vertex, any -> new TreeSet<>());
  }

  private boolean precedes(long one, long other) {
    int order = Integer.compare(near(one).size(), near(other).size());
    return order < 0 || (order == 0 && one < other);
  }

  /** Pairs of edges that leave the same vertex. */
  long wedges() {
    long wedges = 0;
    for (long vertex : neighbours.keySet()) {
      long after = near(vertex).stream().filter(other -> precedes(vertex, other)).count();
      wedges += after * (after - 1) / 2;
    }
    return wedges;
  }

  /** The number of edges. */
  long edges() {
    return neighbours.values().stream().mapToLong(Set::size).sum() / 2;
  }

  /** Vertices without an edge. */
  long lone() {
    return neighbours.values().stream().filter(Set::isEmpty).count();
  }

  /** Edges that leave a vertex, but the last in the order of each. */
  long partsSent() {
    long sent = 0;
    for (long vertex : neighbours.keySet()) {
      long after = near(vertex).stream().filter(other -> precedes(vertex, other)).count();
      sent += Math.max(0, after - 1);
    }
    return sent;
  }

  /** All pairs of edges that meet at a vertex. */
  long allWedges() {
    return neighbours.values().stream().mapToLong(n -> n.size() * (n.size() - 1L) / 2).sum();
  }

  private long trianglesAt(long vertex) {
    long twice = 0;
    for (long one : near(vertex)) {
      twice += near(vertex).stream().filter(other -> near(one).contains(other)).count();
    }
    return twice / 2;
  }

  /** The mean of all local coefficients. */
  double average() {
    return neighbours.keySet().stream().mapToDouble(this::coefficient).average().orElse(0);
  }

  private double coefficient(long vertex) {
    long degree = near(vertex).size();
    return degree < 2 ? 0.0 : (double) trianglesAt(vertex) / (degree * (degree - 1) / 2.0);
  }

  /** Output lines of the clustering coefficient, sorted as text. */
  List<String> coefficients() {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<Long, SortedSet<Long>> entry : neighbours.entrySet()) {
      long vertex = entry.getKey();
      String counts = entry.getValue().size() + "\t" + trianglesAt(vertex);
      lines.add(vertex + "\t" + counts + "\t" + coefficient(vertex));
    }
    Collections.sort(lines);
    return lines;
  }
}

package org.assay.jobs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A small graph with the answers by brute force over its adjacency sets. */
public final class RandomGraph {
  private final TreeMap<Long, SortedSet<Long>> neighbours = new TreeMap<>();

  private RandomGraph() {}

  /** A graph in which each pair of vertices is an edge with this probability. */
  public static RandomGraph of(long seed, int vertices, double density) {
    Random random = new Random(seed);
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < vertices; i++) {
      long spread = random.nextBoolean() ? 1 : Long.MAX_VALUE / vertices;
      ids.add(i * spread);
    }
    RandomGraph graph = new RandomGraph();
    for (long id : new TreeSet<>(ids)) {
      graph.neighbours.put(id, new TreeSet<>());
    }
    List<Long> distinct = new ArrayList<>(graph.neighbours.keySet());
    for (long u : distinct) {
      for (long v : distinct) {
        if (u < v && random.nextDouble() < density) {
          graph.neighbours.get(u).add(v);
          graph.neighbours.get(v).add(u);
        }
      }
    }
    return graph;
  }

  /** The canonical text in a shuffled order. */
  public String[] lines(long seed) {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<Long, SortedSet<Long>> entry : neighbours.entrySet()) {
      if (entry.getValue().isEmpty()) {
        lines.add(entry.getKey().toString());
      }
      for (long v : entry.getValue().tailSet(entry.getKey() + 1)) {
        lines.add(entry.getKey() + "\t" + v);
      }
    }
    Collections.shuffle(lines, new Random(seed));
    return lines.toArray(new String[0]);
  }

  public int vertices() {
    return neighbours.size();
  }

  public long edges() {
    return sum(neighbours.values()) / 2;
  }

  private static long sum(Collection<SortedSet<Long>> sets) {
    return sets.stream().mapToLong(Collection::size).sum();
  }

  /** Sum of d(d-1): what job 2 of mutual friends must emit without literal loops. */
  public long triples() {
    return neighbours.values().stream().mapToLong(n -> n.size() * (n.size() - 1L)).sum();
  }

  /** Sum of the squared degrees: the same with literal loops. */
  public long squaredDegrees() {
    return neighbours.values().stream().mapToLong(n -> (long) n.size() * n.size()).sum();
  }

  /** Open triads with the smallest vertex as apex. */
  public long wedges() {
    long wedges = 0;
    for (Map.Entry<Long, SortedSet<Long>> entry : neighbours.entrySet()) {
      long larger = entry.getValue().tailSet(entry.getKey()).size();
      wedges += larger * (larger - 1) / 2;
    }
    return wedges;
  }

  /** Output lines of mutual friends, sorted as text. */
  public List<String> mutualFriends() {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<Long, SortedSet<Long>> entry : neighbours.entrySet()) {
      for (long v : entry.getValue().tailSet(entry.getKey())) {
        SortedSet<Long> shared = new TreeSet<>(entry.getValue());
        shared.retainAll(neighbours.get(v));
        if (!shared.isEmpty()) {
          lines.add(entry.getKey() + "\t" + v + "\t" + joined(shared));
        }
      }
    }
    Collections.sort(lines);
    return lines;
  }

  /** The number of triples of vertices of which all pairs are edges. */
  public long triangles() {
    long triangles = 0;
    for (long u : neighbours.keySet()) {
      for (long v : neighbours.get(u).tailSet(u)) {
        for (long w : neighbours.get(v).tailSet(v)) {
          triangles += neighbours.get(u).contains(w) ? 1 : 0;
        }
      }
    }
    return triangles;
  }

  /** The number of vertices that are the smallest of their component. */
  public long componentCount() {
    return neighbours.keySet().stream().filter(v -> distances(v).firstKey().equals(v)).count();
  }

  /** Output lines of connected components, sorted as text. */
  public List<String> components() {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<Long, SortedSet<Long>> entry : neighbours.entrySet()) {
      long smallest = distances(entry.getKey()).firstKey();
      lines.add(entry.getKey() + "\t" + smallest + "\t0\t" + joined(entry.getValue()));
    }
    Collections.sort(lines);
    return lines;
  }

  /** L + 1, at least 2: L is the largest distance from the smallest vertex of a component. */
  public int iterations() {
    int farthest = 1;
    for (long vertex : neighbours.keySet()) {
      NavigableMap<Long, Integer> distances = distances(vertex);
      if (distances.firstKey() == vertex) {
        farthest = Math.max(farthest, Collections.max(distances.values()));
      }
    }
    return farthest + 1;
  }

  private NavigableMap<Long, Integer> distances(long start) {
    NavigableMap<Long, Integer> distances = new TreeMap<>();
    distances.put(start, 0);
    List<Long> queue = new ArrayList<>(List.of(start));
    for (int i = 0; i < queue.size(); i++) {
      for (long next : neighbours.get(queue.get(i))) {
        if (!distances.containsKey(next)) {
          distances.put(next, distances.get(queue.get(i)) + 1);
          queue.add(next);
        }
      }
    }
    return distances;
  }

  private static String joined(SortedSet<Long> ids) {
    StringBuilder joined = new StringBuilder();
    for (long id : ids) {
      joined.append(joined.length() > 0 ? " " : "").append(id);
    }
    return joined.toString();
  }
}

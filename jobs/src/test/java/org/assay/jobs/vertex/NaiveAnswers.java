package org.assay.jobs.vertex;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Answers for each vertex of a small graph, the slow way, on its adjacency sets. */
public final class NaiveAnswers {
  private final SortedMap<Long, SortedSet<Long>> neighbours = new TreeMap<>();

  public NaiveAnswers(String... canonicalLines) {
    for (String line : canonicalLines) {
      String[] fields = line.split("\t", -1);
      long first = Long.parseLong(fields[0]);
      of(first);
      if (fields.length > 1) {
        long second = Long.parseLong(fields[1]);
        of(first).add(second);
        of(second).add(first);
      }
    }
  }

  private SortedSet<Long> of(long vertex) {
    return neighbours.computeIfAbsent(vertex, key -> new TreeSet<>());
  }

  long smallest() {
    return neighbours.firstKey();
  }

  long degreeSum() {
    return neighbours.values().stream().mapToLong(Set::size).sum();
  }

  long degreeSum(Collection<Long> vertices) {
    return vertices.stream().mapToLong(vertex -> neighbours.get(vertex).size()).sum();
  }

  long loneVertices() {
    return neighbours.values().stream().filter(Set::isEmpty).count();
  }

  /** Hops from the nearest source, -1 for none. */
  SortedMap<Long, Long> distances(Collection<Long> sources) {
    SortedMap<Long, Long> distances = new TreeMap<>();
    neighbours.keySet().forEach(vertex -> distances.put(vertex, -1L));
    List<Long> queue = new ArrayList<>(sources);
    sources.forEach(source -> distances.put(source, 0L));
    for (int i = 0; i < queue.size(); i++) {
      for (long next : neighbours.get(queue.get(i))) {
        if (distances.get(next) < 0) {
          distances.put(next, distances.get(queue.get(i)) + 1);
          queue.add(next);
        }
      }
    }
    return distances;
  }

  /** The smallest vertex of each one's component. */
  public SortedMap<Long, Long> components() {
    SortedMap<Long, Long> components = new TreeMap<>();
    for (long vertex : neighbours.keySet()) {
      distances(List.of(vertex))
          .forEach((other, hops) -> components.putIfAbsent(other, hops < 0 ? null : vertex));
    }
    return components;
  }

  /** Core numbers by their definition: peel off whoever has fewer than k neighbours left. */
  SortedMap<Long, Long> cores() {
    SortedMap<Long, Long> cores = new TreeMap<>();
    TreeSet<Long> left = new TreeSet<>(neighbours.keySet());
    for (long k = 1; !left.isEmpty(); k++) {
      long core = k;
      while (left.removeIf(
          vertex -> {
            boolean goes = neighbours.get(vertex).stream().filter(left::contains).count() < core;
            if (goes) {
              cores.put(vertex, core - 1);
            }
            return goes;
          })) {
        // Another vertex may have lost too many neighbours by that.
      }
    }
    return cores;
  }

  /** Labels after so many rounds. */
  SortedMap<Long, Long> labels(int rounds) {
    SortedMap<Long, Long> labels = new TreeMap<>();
    neighbours.keySet().forEach(vertex -> labels.put(vertex, vertex));
    for (int round = 0; round < rounds; round++) {
      SortedMap<Long, Long> former = new TreeMap<>(labels);
      for (long vertex : neighbours.keySet()) {
        Map<Long, Integer> votes = new HashMap<>();
        votes.merge(former.get(vertex), 1, Integer::sum);
        neighbours.get(vertex).forEach(n -> votes.merge(former.get(n), 1, Integer::sum));
        int most = votes.values().stream().max(Integer::compare).orElseThrow();
        labels.put(
            vertex,
            votes.keySet().stream()
                .filter(label -> votes.get(label) == most)
                .min(Long::compare)
                .orElseThrow());
      }
    }
    return labels;
  }
}

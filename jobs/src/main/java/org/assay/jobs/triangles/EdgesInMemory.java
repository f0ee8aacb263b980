package org.assay.jobs.triangles;

import java.util.Arrays;
import java.util.function.LongToIntFunction;
import org.assay.jobs.graph.VertexIndex;

/**
 * Edges of a graph, of which the triangles are counted: 30 bytes for each edge, and 50 for each
 * vertex.
 */
final class EdgesInMemory {
  private final VertexIndex index = new VertexIndex();

  /** The indexes of each edge's ends. */
  private int[] ends = new int[128];

  private int edges;

  void clear() {
    index.clear();
    edges = 0;
  }

  int edges() {
    return edges;
  }

  /** Adds an edge between two vertices; again is as once. */
  void add(long vertex, long other) {
    if (2 * edges == ends.length) {
      ends = Arrays.copyOf(ends, Math.multiplyExact(2, ends.length));
    }
    ends[2 * edges] = index.add(vertex);
    ends[2 * edges + 1] = index.add(other);
    edges++;
  }

  /**
   * The number of triangles whose corners have labels with this sum.
   *
   * <p>An edge leads from its end of lower degree to the other one (Latapy, Main-memory triangle
   * computations for very large sparse power-law graphs, 2008): at most the root of twice the edges
   * leave a vertex.
   */
  long triangles(LongToIntFunction label, long sum) {
    int[] starts = direct();
    int[] targets = targets(starts);
    int[] stops = sortUnique(targets, starts);
    int[] labels = new int[index.size()];
    Arrays.setAll(labels, at -> label.applyAsInt(index.vertex(at)));
    int[] marks = new int[index.size()];
    Arrays.fill(marks, -1);
    long triangles = 0;
    for (int lowest = 0; lowest < index.size(); lowest++) {
      for (int i = starts[lowest]; i < stops[lowest]; i++) {
        marks[targets[i]] = lowest;
      }
      for (int i = starts[lowest]; i < stops[lowest]; i++) {
        int middle = targets[i];
        long rest = sum - labels[lowest] - labels[middle];
        for (int j = starts[middle]; j < stops[middle]; j++) {
          triangles += marks[targets[j]] == lowest && labels[targets[j]] == rest ? 1 : 0;
        }
      }
    }
    return triangles;
  }

  /** Turns the edges, and says where those that leave a vertex begin, in the order of vertices. */
  private int[] direct() {
    int[] degrees = new int[index.size()];
    for (int i = 0; i < 2 * edges; i++) {
      degrees[ends[i]]++;
    }
    int[] starts = new int[index.size() + 1];
    for (int i = 0; i < 2 * edges; i += 2) {
      int from = ends[i];
      int to = ends[i + 1];
      if (degrees[from] > degrees[to] || (degrees[from] == degrees[to] && from > to)) {
        ends[i] = to;
        ends[i + 1] = from;
      }
      starts[ends[i] + 1]++;
    }
    Arrays.parallelPrefix(starts, Integer::sum);
    return starts;
  }

  private int[] targets(int[] starts) {
    int[] targets = new int[edges];
    int[] next = Arrays.copyOf(starts, index.size());
    for (int i = 0; i < 2 * edges; i += 2) {
      targets[next[ends[i]]++] = ends[i + 1];
    }
    return targets;
  }

  /** Sorts those of each vertex without repeats, and says where they end. */
  private static int[] sortUnique(int[] targets, int[] starts) {
    int[] stops = new int[starts.length - 1];
    for (int from = 0; from < stops.length; from++) {
      Arrays.sort(targets, starts[from], starts[from + 1]);
      int kept = starts[from];
      for (int i = starts[from]; i < starts[from + 1]; i++) {
        if (kept == starts[from] || targets[i] != targets[kept - 1]) {
          targets[kept++] = targets[i];
        }
      }
      stops[from] = kept;
    }
    return stops;
  }
}

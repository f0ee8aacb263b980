package org.assay.jobs.components;

import java.util.Arrays;
import org.assay.jobs.graph.VertexIndex;

/**
 * Vertices in disjoint sets, each set named by its smallest vertex (union-find with path halving).
 * It holds a bounded number of vertices, up to {@value #VERTEX_BYTES} bytes each.
 */
final class Forest {
  /** Of a vertex, while more room is made. */
  static final int VERTEX_BYTES = 60;

  private final int most;
  private final VertexIndex index = new VertexIndex();

  /** By a vertex' index that of a vertex of its set, which is smaller unless it is the vertex. */
  private int[] parents = new int[64];

  /** An empty one for at most {@code most} vertices, at least 2. */
  Forest(int most) {
    this.most = most;
  }

  /** How many vertices it holds. */
  int size() {
    return index.size();
  }

  /** The vertex that came as the one with this index. */
  long vertex(int at) {
    return index.vertex(at);
  }

  /** The smallest vertex in the set of the one with this index. */
  long smallest(int at) {
    return index.vertex(root(at));
  }

  /**
   * Unites the sets of two vertices, which may be the same one.
   *
   * @return false if there is no room for them: then nothing is changed
   */
  boolean join(long vertex, long other) {
    if (index.size() > most - 2 && missing(vertex, other) > most - index.size()) {
      return false;
    }
    int root = root(add(vertex));
    int otherRoot = root(add(other));
    if (index.vertex(root) < index.vertex(otherRoot)) {
      parents[otherRoot] = root;
    } else {
      parents[root] = otherRoot;
    }
    return true;
  }

  private int missing(long vertex, long other) {
    int missing = index.find(vertex) < 0 ? 1 : 0;
    return other != vertex && index.find(other) < 0 ? missing + 1 : missing;
  }

  private int add(long vertex) {
    int before = index.size();
    int at = index.add(vertex);
    if (at == before) {
      if (at == parents.length) {
        parents = Arrays.copyOf(parents, Math.multiplyExact(2, at));
      }
      parents[at] = at;
    }
    return at;
  }

  private int root(int of) {
    int at = of;
    while (parents[at] != at) {
      parents[at] = parents[parents[at]];
      at = parents[at];
    }
    return at;
  }

  /** Forgets all vertices. */
  void clear() {
    index.clear();
  }
}

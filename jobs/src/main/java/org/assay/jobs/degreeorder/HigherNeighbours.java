package org.assay.jobs.degreeorder;

import java.util.Arrays;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/**
 * The neighbours of a vertex that come after it in the order of degrees, from the degrees that its
 * neighbours sent to it. All of them are held in memory, 16 bytes each (while growing, up to 3
 * times that) and 8 more for those that come after it.
 */
final class HigherNeighbours {
  private final IdList higher = new IdList();
  private long[] vertices = new long[64];

  /** The degree in the upper half, the place in {@code vertices} in the lower half. */
  private long[] order = new long[64];

  private int degree;

  /** Takes what the neighbours of a vertex sent to it. */
  void read(VertexId vertex, Iterable<DegreedVertex> neighbours) {
    degree = 0;
    for (DegreedVertex neighbour : neighbours) {
      if (neighbour.vertex() != vertex.vertex()) {
        add(neighbour);
      }
    }
    Arrays.sort(order, 0, degree);
    higher.clear();
    int start = 0;
    while (start < degree) {
      long of = order[start] >>> Integer.SIZE;
      int end = start;
      while (end < degree && order[end] >>> Integer.SIZE == of) {
        end++;
      }
      if (of >= degree) {
        addHigher(start, end, of == degree ? vertex.vertex() : -1);
      }
      start = end;
    }
  }

  private void add(DegreedVertex neighbour) {
    if (degree == vertices.length) {
      vertices = Arrays.copyOf(vertices, Math.multiplyExact(2, degree));
      order = Arrays.copyOf(order, vertices.length);
    }
    vertices[degree] = neighbour.vertex();
    order[degree] = (long) neighbour.degree() << Integer.SIZE | degree;
    degree++;
  }

  /** Adds neighbours of one degree, as far as their numbers are larger than {@code above}. */
  private void addHigher(int start, int end, long above) {
    for (int i = start; i < end; i++) {
      order[i] = vertices[(int) order[i]];
    }
    Arrays.sort(order, start, end);
    for (int i = start; i < end; i++) {
      if (order[i] > above) {
        higher.add(order[i]);
      }
    }
  }

  /** The degree of the vertex. */
  int degree() {
    return degree;
  }

  /**
   * Its neighbours of higher degree, and those of the same degree with a larger number, ascending
   * by degree and number; may be changed.
   */
  IdList higher() {
    return higher;
  }
}

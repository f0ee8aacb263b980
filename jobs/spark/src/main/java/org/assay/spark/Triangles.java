package org.assay.spark;

import java.util.List;

/** The number of triangles: triples of vertices that are all connected. */
final class Triangles {
  private Triangles() {}

  static void rdd(Run run) {
    write(
        run, new DegreeOrder(run).corners().map(DegreeOrder.Corner::triangles).fold(0L, Long::sum));
  }

  /** Writes the number in a line, and reports it. */
  static void write(Run run, long triangles) {
    run.write(run.context().parallelize(List.of(Long.toString(triangles)), 1));
    run.result("triangles", triangles);
  }
}

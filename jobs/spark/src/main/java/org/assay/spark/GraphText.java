package org.assay.spark;

import org.apache.spark.api.java.JavaPairRDD;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.pagerank.DirectedEdge;
import scala.Tuple2;

/** Reads the lines of graphs. Each task has a copy of its own of what reads them. */
final class GraphText {
  private GraphText() {}

  /** The input's edges, each from its smaller vertex; a vertex alone as an edge to itself. */
  static JavaPairRDD<Long, Long> undirected(Run run) {
    EdgeLine edge = new EdgeLine();
    return run.texts(run.hadoop())
        .mapToPair(
            line -> {
              edge.read(line);
              return new Tuple2<>(edge.smaller(), edge.larger());
            });
  }

  /** The input's edges, each from its source; a vertex alone with the target null. */
  static JavaPairRDD<Long, Long> directed(Run run) {
    DirectedEdge edge = new DirectedEdge();
    return run.texts(run.hadoop())
        .mapToPair(
            line -> {
              Long target = edge.read(line) ? (Long) edge.target() : null;
              return new Tuple2<>(edge.source(), target);
            });
  }
}

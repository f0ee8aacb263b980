package org.assay.spark;

import java.util.StringTokenizer;
import org.apache.spark.api.java.JavaPairRDD;
import scala.Tuple2;

/** Reads the lines of graphs: two vertices apart by tabs or spaces, or one that has no edge. */
final class GraphText {
  private static final String UNDIRECTED =
      "a line of a canonical graph (smaller vertex, tab, larger vertex; or one vertex)";
  private static final String DIRECTED =
      "a line of a directed graph (source, tab, target; or one vertex)";

  private GraphText() {}

  /** The input's edges, each from its smaller vertex; a vertex alone as an edge to itself. */
  static JavaPairRDD<Long, Long> undirected(Run run) {
    return run.lines().mapToPair(line -> edge(line, false));
  }

  /** The input's edges, each from its source; a vertex alone with the target null. */
  static JavaPairRDD<Long, Long> directed(Run run) {
    return run.lines().mapToPair(line -> edge(line, true));
  }

  private static Tuple2<Long, Long> edge(String line, boolean directed) {
    String form = directed ? DIRECTED : UNDIRECTED;
    StringTokenizer fields = new StringTokenizer(line, "\t ");
    int count = fields.countTokens();
    if (count != 1 && count != 2) {
      throw BadLineException.of(line, form);
    }
    long source = vertex(fields.nextToken(), line, form);
    if (count == 1) {
      return new Tuple2<>(source, directed ? null : (Long) source);
    }
    long target = vertex(fields.nextToken(), line, form);
    if (!directed && source >= target) {
      throw BadLineException.of(line, form);
    }
    return new Tuple2<>(source, target);
  }

  private static long vertex(String text, String line, String form) {
    try {
      long vertex = Long.parseLong(text);
      if (vertex >= 0 && Character.isDigit(text.charAt(0))) {
        return vertex;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw BadLineException.of(line, form);
  }
}

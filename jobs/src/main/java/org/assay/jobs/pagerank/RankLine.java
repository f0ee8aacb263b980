package org.assay.jobs.pagerank;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.MalformedLineException;

/** The text of a vertex's rank: {@code vertex<TAB>rank}, or the vertex alone before the first. */
final class RankLine {
  private final Text text = new Text();
  private long vertex;
  private double rank;

  /**
   * Reads a line.
   *
   * @param start the rank of a vertex that has none yet
   * @throws MalformedLineException if the line isn't of this form
   */
  void read(Text line, double start) throws MalformedLineException {
    int tab = line.find("\t");
    try {
      String all = line.toString();
      vertex = Long.parseLong(tab < 0 ? all : all.substring(0, tab));
      rank = tab < 0 ? start : Double.parseDouble(all.substring(tab + 1));
    } catch (NumberFormatException e) {
      throw new MalformedLineException(
          MalformedLineException.quote(line.toString()) + " is not a vertex, a tab and a rank");
    }
  }

  long vertex() {
    return vertex;
  }

  double rank() {
    return rank;
  }

  /** The line of a vertex, valid until the next call; reading it gives the same double. */
  Text text(long ofVertex, double itsRank) {
    text.set((ofVertex + "\t" + itsRank).getBytes(StandardCharsets.UTF_8));
    return text;
  }
}

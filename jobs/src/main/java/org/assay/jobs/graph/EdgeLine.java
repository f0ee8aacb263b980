package org.assay.jobs.graph;

import java.io.Serializable;
import org.apache.hadoop.io.Text;

/**
 * Reads the canonical graph text that {@code normalise} writes: {@code u<TAB>v} with u smaller than
 * v for an edge, {@code u} alone for a vertex without an edge.
 *
 * <p>Any other line is refused: an edge that is listed with the larger vertex first would give a
 * wrong result silently.
 */
public final class EdgeLine implements Serializable {
  private final IdScanner scanner = new IdScanner("\t ");
  private long smaller;
  private long larger;

  /**
   * Reads a line.
   *
   * @return true for an edge, false for a vertex without one, which is then {@link #smaller}
   * @throws MalformedLineException if the line isn't canonical
   */
  public boolean read(Text line) throws MalformedLineException {
    scanner.reset(line);
    if (!scanner.hasNext()) {
      throw notCanonical(line);
    }
    smaller = next(line);
    if (!scanner.hasNext()) {
      larger = smaller;
      return false;
    }
    larger = next(line);
    if (smaller >= larger || scanner.hasNext()) {
      throw notCanonical(line);
    }
    return true;
  }

  private long next(Text line) throws MalformedLineException {
    try {
      return scanner.next();
    } catch (MalformedLineException e) {
      throw new MalformedLineException(notCanonical(line).getMessage() + "; " + e.getMessage());
    }
  }

  public long smaller() {
    return smaller;
  }

  public long larger() {
    return larger;
  }

  private static MalformedLineException notCanonical(Text line) {
    return new MalformedLineException(
        MalformedLineException.quote(line.toString())
            + " is not a line of a canonical graph (smaller vertex, tab, larger vertex);"
            + " run `normalise` on the graph first");
  }
}

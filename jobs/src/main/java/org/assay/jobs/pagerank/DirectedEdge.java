package org.assay.jobs.pagerank;

import java.io.Serializable;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.MalformedLineException;

/**
 * Reads a line of a directed graph: {@code source<TAB>target}, or a vertex alone that may have no
 * edge at all.
 */
public final class DirectedEdge implements Serializable {
  private final IdScanner scanner = new IdScanner("\t ");
  private long source;
  private long target;

  /**
   * Reads a line.
   *
   * @return true for an edge, false for a vertex alone, which is then {@link #source}
   * @throws MalformedLineException if the line is neither
   */
  public boolean read(Text line) throws MalformedLineException {
    scanner.reset(line);
    if (!scanner.hasNext()) {
      throw malformed(line);
    }
    source = next(line);
    if (!scanner.hasNext()) {
      return false;
    }
    target = next(line);
    if (scanner.hasNext()) {
      throw malformed(line);
    }
    return true;
  }

  private long next(Text line) throws MalformedLineException {
    try {
      return scanner.next();
    } catch (MalformedLineException e) {
      throw new MalformedLineException(malformed(line).getMessage() + "; " + e.getMessage());
    }
  }

  public long source() {
    return source;
  }

  public long target() {
    return target;
  }

  private static MalformedLineException malformed(Text line) {
    return new MalformedLineException(
        MalformedLineException.quote(line.toString())
            + " is not a line of a directed graph (source, tab, target; or one vertex)");
  }
}

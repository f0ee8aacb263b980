package org.assay.jobs.vertex;

import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.MalformedLineException;

/**
 * The text of a vertex between iterations and in the output: {@code
 * vertex<TAB>value<TAB>flag<TAB>n1 n2 ...} with flag 1 for active and 0 for inactive. A vertex
 * without neighbours ends after the third tab. The value is a vertex number or count, or -1 for
 * none.
 */
final class VertexLine {
  private static final long NONE = -1;

  private final IdScanner scanner = new IdScanner("\t ");
  private final LineBuilder line = new LineBuilder();

  /** Reads a friend list, the vertex first, as an active vertex that has its own number. */
  long readFriends(Text text, VertexState state) throws MalformedLineException {
    scanner.reset(text);
    long vertex = next();
    state.setVertex(vertex, true);
    readNeighbours(state);
    return vertex;
  }

  /** Reads the line of an earlier iteration. */
  long readState(Text text, VertexState state) throws MalformedLineException {
    scanner.reset(text);
    long vertex = next();
    boolean isNone = scanner.hasNext() && scanner.pass('-');
    long value = next();
    state.setVertex(isNone ? NONE : value, next() == 1);
    readNeighbours(state);
    return vertex;
  }

  /** The line of a vertex, valid until the next call. */
  Text text(long vertex, VertexState state) {
    line.clear().put(vertex).put('\t');
    if (state.value() == NONE) {
      line.put('-').put(1);
    } else {
      line.put(state.value());
    }
    line.put('\t').put(state.isActive() ? '1' : '0').put('\t').put(state.neighbours(), ' ');
    return line.text();
  }

  private void readNeighbours(VertexState state) throws MalformedLineException {
    state.neighbours().clear();
    while (scanner.hasNext()) {
      state.neighbours().add(scanner.next());
    }
  }

  private long next() throws MalformedLineException {
    scanner.hasNext();
    return scanner.next();
  }
}

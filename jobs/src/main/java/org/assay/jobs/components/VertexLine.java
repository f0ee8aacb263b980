package org.assay.jobs.components;

import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.MalformedLineException;

/**
 * The text of a vertex between iterations and in the output: {@code
 * vertex<TAB>minimum<TAB>flag<TAB>n1 n2 ...} with flag 1 for active and 0 for inactive. A vertex
 * without neighbours ends after the third tab.
 */
final class VertexLine {
  private final IdScanner scanner = new IdScanner("\t ");
  private final LineBuilder line = new LineBuilder();

  /** Reads a friend list, the vertex first, as an active vertex that is its own minimum. */
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
    long minimum = next();
    state.setVertex(minimum, next() == 1);
    readNeighbours(state);
    return vertex;
  }

  /** The line of a vertex, valid until the next call. */
  Text text(long vertex, VertexState state) {
    line.clear().put(vertex).put('\t').put(state.minimum()).put('\t');
    line.put(state.isActive() ? '1' : '0').put('\t').put(state.neighbours(), ' ');
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

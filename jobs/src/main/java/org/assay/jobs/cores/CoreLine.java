package org.assay.jobs.cores;

import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.MalformedLineException;

/**
 * The text of a vertex between iterations and in the output: {@code
 * vertex<TAB>estimate<TAB>flag<TAB>n1:e1 n2:e2 ...} with flag 1 for active and 0 for inactive, and
 * the last estimate that each neighbour sent. A vertex without neighbours ends after the third tab.
 */
final class CoreLine {
  private final IdScanner scanner = new IdScanner("\t :");
  private final LineBuilder line = new LineBuilder();

  /** Reads a friend list as an active vertex with its degree as estimate. */
  long readFriends(Text text, CoreState state) throws MalformedLineException {
    scanner.reset(text);
    long vertex = next();
    state.neighbours().clear();
    state.known().clear();
    while (scanner.hasNext()) {
      state.neighbours().add(scanner.next());
      state.known().add(CoreState.UNKNOWN);
    }
    state.setVertex(state.neighbours().size(), true);
    return vertex;
  }

  /** Reads the line of an earlier iteration. */
  long readState(Text text, CoreState state) throws MalformedLineException {
    scanner.reset(text);
    long vertex = next();
    state.setVertex(next(), next() == 1);
    state.neighbours().clear();
    state.known().clear();
    while (scanner.hasNext()) {
      state.neighbours().add(scanner.next());
      state.known().add(next());
    }
    return vertex;
  }

  /** The line of a vertex, valid until the next call. */
  Text text(long vertex, CoreState state) {
    line.clear().put(vertex).put('\t').put(state.estimate()).put('\t');
    line.put(state.isActive() ? '1' : '0').put('\t');
    for (int i = 0; i < state.neighbours().size(); i++) {
      if (i > 0) {
        line.put(' ');
      }
      line.put(state.neighbours().get(i)).put(':').put(state.known().get(i));
    }
    return line.text();
  }

  private long next() throws MalformedLineException {
    scanner.hasNext();
    return scanner.next();
  }
}

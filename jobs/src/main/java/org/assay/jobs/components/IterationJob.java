package org.assay.jobs.components;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.vertex.VertexJob;
import org.assay.jobs.vertex.VertexMapper;
import org.assay.jobs.vertex.VertexReducer;
import org.assay.jobs.vertex.VertexState;

/**
 * One iteration of connected components. After iteration k the value of a vertex, its minimum, is
 * the smallest number within k hops.
 *
 * <p>The first iteration reads friend lists: each vertex sends its number to its neighbours, takes
 * the smallest of its own number and its neighbours' as minimum, becomes active and counts as
 * updated; the messages aren't used. Later ones read the lines of the former one: an active vertex
 * sends its minimum to each neighbour, except the one whose number it is; a vertex that gets a
 * smaller minimum takes it, becomes active and counts as updated, any other becomes inactive. Both
 * are written.
 */
final class IterationJob {
  private IterationJob() {}

  static void configure(Job job, boolean first, Path input, Path output) throws IOException {
    Class<? extends VertexReducer> reducer = first ? FirstReducer.class : LaterReducer.class;
    VertexJob.configure(job, first, MinimumMapper.class, reducer, input, output);
  }

  /** Sends minima along the edges. */
  static final class MinimumMapper extends VertexMapper {
    @Override
    protected long message(VertexState state) {
      return state.value();
    }

    @Override
    protected boolean isFor(long neighbour, VertexState state) {
      return neighbour != state.value();
    }

    @Override
    protected void count(Context context, long sent) {
      context.getCounter(ComponentCounter.MESSAGES).increment(sent);
    }
  }

  /** Finds the smallest message. */
  private abstract static class MinimumReducer extends VertexReducer {
    private long received;
    private long components;

    /** Sets minimum and flag; {@code received} is the smallest message or the maximum. */
    abstract void take(long received, VertexState state);

    @Override
    protected final void forget() {
      received = Long.MAX_VALUE;
    }

    @Override
    protected final void receive(long message) {
      received = Math.min(received, message);
    }

    @Override
    protected final void update(long vertex, VertexState state) {
      take(received, state);
      components += state.value() == vertex ? 1 : 0;
    }

    @Override
    protected final void count(Context context, long written, long writtenActive) {
      context.getCounter(ComponentCounter.UPDATED).increment(writtenActive);
      context.getCounter(ComponentCounter.VERTICES).increment(written);
      context.getCounter(ComponentCounter.COMPONENTS).increment(components);
    }
  }

  /** Takes the minimum from the list itself; it is sorted, but that isn't relied upon. */
  static final class FirstReducer extends MinimumReducer {
    @Override
    void take(long received, VertexState state) {
      long minimum = state.value();
      for (int i = 0; i < state.neighbours().size(); i++) {
        minimum = Math.min(minimum, state.neighbours().get(i));
      }
      state.setVertex(minimum, true);
    }
  }

  /** Takes the minimum from the messages. */
  static final class LaterReducer extends MinimumReducer {
    @Override
    void take(long received, VertexState state) {
      boolean isSmaller = received < state.value();
      state.setVertex(isSmaller ? received : state.value(), isSmaller);
    }
  }
}

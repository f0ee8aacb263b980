package org.assay.jobs.distances;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.vertex.VertexJob;
import org.assay.jobs.vertex.VertexMapper;
import org.assay.jobs.vertex.VertexReducer;
import org.assay.jobs.vertex.VertexState;

/**
 * One iteration of breadth-first distances. The value of a vertex is its distance from the nearest
 * source, -1 as long as it isn't reached. Iteration k reaches the vertices at distance k: those
 * that the former one reached, in the first the sources, are active and send k to their neighbours;
 * a neighbour that has no distance takes it and becomes active.
 */
final class DistanceJob {
  private static final long UNREACHED = -1;

  private DistanceJob() {}

  static void configure(Job job, boolean first, Path input, Path output) throws IOException {
    VertexJob.configure(job, first, FrontierMapper.class, ReachingReducer.class, input, output);
  }

  /** Sends the next distance from the frontier. */
  static final class FrontierMapper extends VertexMapper {
    private Sources sources;

    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      super.setup(context);
      sources = Sources.of(context.getConfiguration());
    }

    @Override
    protected void begin(long vertex, VertexState state) {
      boolean isSource = sources.contains(vertex);
      state.setVertex(isSource ? 0 : UNREACHED, isSource);
    }

    @Override
    protected long message(VertexState state) {
      return state.value() + 1;
    }

    @Override
    protected void count(Context context, long sent) {
      context.getCounter(DistanceCounter.MESSAGES).increment(sent);
    }
  }

  /** Takes the first distance that arrives and keeps it; all of one iteration are equal. */
  static final class ReachingReducer extends VertexReducer {
    private long received;

    @Override
    protected void forget() {
      received = UNREACHED;
    }

    @Override
    protected void receive(long message) {
      received = message;
    }

    @Override
    protected void update(long vertex, VertexState state) {
      boolean isReached = state.value() == UNREACHED && received != UNREACHED;
      state.setVertex(isReached ? received : state.value(), isReached);
    }

    @Override
    protected void count(Context context, long written, long writtenActive) {
      context.getCounter(DistanceCounter.REACHED).increment(writtenActive);
      context.getCounter(DistanceCounter.VERTICES).increment(written);
    }
  }
}

package org.assay.jobs.labels;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.vertex.VertexJob;
import org.assay.jobs.vertex.VertexMapper;
import org.assay.jobs.vertex.VertexReducer;
import org.assay.jobs.vertex.VertexState;

/**
 * One iteration of label propagation (Raghavan, Albert, Kumara 2007), synchronous and without
 * chance. The value of a vertex is its label, at first its own number. Each vertex sends its label
 * to all its neighbours, and takes the label that occurs most often among its own and the
 * neighbours' labels of the former iteration, each counted once per vertex that has it; of those
 * that occur equally often the smallest. The vertex is active, by its flag, if its label changed.
 *
 * <p>The vertex' own vote lets two neighbours agree, which would exchange their labels forever.
 */
final class LabelJob {
  private LabelJob() {}

  static void configure(Job job, boolean first, Path input, Path output) throws IOException {
    VertexJob.configure(job, first, LabelMapper.class, VoteReducer.class, input, output);
  }

  /** Sends labels along all edges: a neighbour needs them also when they haven't changed. */
  static final class LabelMapper extends VertexMapper {
    @Override
    protected boolean sends(VertexState state) {
      return true;
    }

    @Override
    protected long message(VertexState state) {
      return state.value();
    }

    @Override
    protected void count(Context context, long sent) {
      context.getCounter(LabelCounter.MESSAGES).increment(sent);
    }
  }

  /** Counts the votes; the labels of all neighbours of a vertex are held in memory. */
  static final class VoteReducer extends VertexReducer {
    private final IdList votes = new IdList();

    @Override
    protected void forget() {
      votes.clear();
    }

    @Override
    protected void receive(long message) {
      votes.add(message);
    }

    @Override
    protected void update(long vertex, VertexState state) {
      votes.add(state.value());
      long winner = mostFrequent(votes);
      state.setVertex(winner, winner != state.value());
    }

    @Override
    protected void count(Context context, long written, long writtenActive) {
      context.getCounter(LabelCounter.CHANGED).increment(writtenActive);
      context.getCounter(LabelCounter.VERTICES).increment(written);
    }
  }

  /** The most frequent number of a list that isn't empty, the smallest of several; sorts it. */
  private static long mostFrequent(IdList votes) {
    votes.sort();
    long winner = votes.get(0);
    int most = 0;
    int run = 0;
    for (int i = 0; i < votes.size(); i++) {
      run = i > 0 && votes.get(i) == votes.get(i - 1) ? run + 1 : 1;
      if (run > most) {
        most = run;
        winner = votes.get(i);
      }
    }
    return winner;
  }
}

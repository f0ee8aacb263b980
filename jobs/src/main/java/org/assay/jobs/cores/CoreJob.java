package org.assay.jobs.cores;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.vertex.VertexJob;
import org.assay.jobs.vertex.VertexReducer;

/**
 * One iteration of k-core decomposition (Lü et al., The H-index of a network node and its relation
 * to degree and coreness, 2016; messages as in Montresor et al., Distributed k-core decomposition,
 * 2011).
 *
 * <p>Each vertex has an estimate of its core number that is never too small, at first its degree.
 * It lowers it to the h-index of its neighbours' estimates: the largest h such that h of them are
 * at least h. A vertex whose estimate fell is active, and sends it to its neighbours, which keep
 * it.
 *
 * <p>A neighbour whose own estimate is known to be no larger gets no message: it counts this vertex
 * as fully as before. Estimates never rise, so an old one of a neighbour is a safe bound.
 */
final class CoreJob {
  private CoreJob() {}

  static void configure(Job job, boolean first, Path input, Path output) throws IOException {
    VertexJob.markFirst(job, first);
    job.setMapperClass(EstimateMapper.class);
    job.setReducerClass(EstimateReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(CoreState.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Passes each vertex, and sends a new estimate to those whom it can matter to. */
  static final class EstimateMapper extends Mapper<LongWritable, Text, VertexId, CoreState> {
    private final CoreLine line = new CoreLine();
    private final CoreState state = new CoreState();
    private final CoreState message = new CoreState();
    private final VertexId key = new VertexId();
    private boolean isFirst;
    private long messages;

    @Override
    protected void setup(Context context) {
      isFirst = VertexJob.isFirst(context.getConfiguration());
    }

    @Override
    protected void map(LongWritable offset, Text text, Context context)
        throws IOException, InterruptedException {
      long vertex = isFirst ? line.readFriends(text, state) : line.readState(text, state);
      key.set(vertex);
      context.write(key, state);
      if (!state.isActive()) {
        return;
      }
      message.setMessage(vertex, state.estimate());
      for (int i = 0; i < state.neighbours().size(); i++) {
        long known = state.known().get(i);
        if (known == CoreState.UNKNOWN || known > state.estimate()) {
          key.set(state.neighbours().get(i));
          context.write(key, message);
          messages++;
        }
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(CoreCounter.MESSAGES).increment(messages);
    }
  }

  /** Takes the new estimates of the neighbours in, lowers the vertex' own, and writes it. */
  static final class EstimateReducer extends Reducer<VertexId, CoreState, NullWritable, Text> {
    private final CoreLine line = new CoreLine();
    private final CoreState state = new CoreState();
    private final IdList senders = new IdList();
    private final IdList estimates = new IdList();
    private final HIndex index = new HIndex();
    private long changed;
    private long vertices;
    private long sum;

    @Override
    protected void reduce(VertexId vertex, Iterable<CoreState> values, Context context)
        throws IOException, InterruptedException {
      boolean found = false;
      senders.clear();
      estimates.clear();
      for (CoreState value : values) {
        if (value.isMessage()) {
          senders.add(value.sender());
          estimates.add(value.estimate());
        } else {
          state.copyFrom(value);
          found = true;
        }
      }
      if (!found) {
        throw VertexReducer.notSymmetric(vertex);
      }
      takeIn(vertex);
      long lowered = index.of(state.known(), state.estimate());
      boolean isLower = lowered < state.estimate();
      state.setVertex(lowered, isLower);
      context.write(NullWritable.get(), line.text(vertex.vertex(), state));
      changed += isLower ? 1 : 0;
      sum += lowered;
      vertices++;
    }

    private void takeIn(VertexId vertex) throws IOException {
      for (int i = 0; i < senders.size(); i++) {
        int at = state.neighbours().indexOf(senders.get(i));
        if (at < 0) {
          throw VertexReducer.notSymmetric(vertex);
        }
        state.known().set(at, estimates.get(i));
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(CoreCounter.CHANGED).increment(changed);
      context.getCounter(CoreCounter.VERTICES).increment(vertices);
      context.getCounter(CoreCounter.CORE_SUM).increment(sum);
    }
  }

  /** Finds h-indices, with an array of counts that is used again for each vertex. */
  static final class HIndex {
    private int[] counts = new int[64];

    /** The largest h, at most {@code bound}, such that h of the numbers are at least h. */
    long of(IdList numbers, long bound) {
      // A bound is a degree at most, as an estimate is.
      int highest = (int) Math.min(bound, numbers.size());
      if (counts.length <= highest) {
        counts = new int[highest + 1];
      }
      Arrays.fill(counts, 0, highest + 1, 0);
      for (int i = 0; i < numbers.size(); i++) {
        counts[(int) Math.min(numbers.get(i), highest)]++;
      }
      int h = highest;
      for (int atLeast = counts[h]; h > 0 && atLeast < h; atLeast += counts[h]) {
        h--;
      }
      return h;
    }
  }
}

package org.assay.jobs.components;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.VertexId;

/**
 * One iteration of connected components. After iteration k the minimum of a vertex is the smallest
 * number within k hops.
 *
 * <p>The first iteration reads friend lists: each vertex sends its number to its neighbours, takes
 * the smallest of its own number and its neighbours' as minimum, becomes active and counts as
 * updated; the messages aren't used. Later ones read the lines of the former one (see {@link
 * VertexLine}): an active vertex sends its minimum to each neighbour, except the one whose number
 * it is; a vertex that gets a smaller minimum takes it, becomes active and counts as updated, any
 * other becomes inactive. Both are written.
 */
final class IterationJob {
  private IterationJob() {}

  static void configure(Job job, boolean first, Path input, Path output) throws IOException {
    job.setMapperClass(first ? FirstMapper.class : LaterMapper.class);
    job.setReducerClass(first ? FirstReducer.class : LaterReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VertexState.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends messages along the edges and passes the vertices. */
  private abstract static class MessageMapper
      extends Mapper<LongWritable, Text, VertexId, VertexState> {
    final VertexLine line = new VertexLine();
    final VertexState state = new VertexState();
    private final VertexState message = new VertexState();
    private final VertexId key = new VertexId();
    private long messages;

    final void emit(long vertex, Context context) throws IOException, InterruptedException {
      key.set(vertex);
      context.write(key, state);
      if (!state.isActive()) {
        return;
      }
      message.setMessage(state.minimum());
      for (int i = 0; i < state.neighbours().size(); i++) {
        long neighbour = state.neighbours().get(i);
        if (neighbour != state.minimum()) {
          key.set(neighbour);
          context.write(key, message);
          messages++;
        }
      }
    }

    @Override
    protected final void cleanup(Context context) {
      context.getCounter(ComponentCounter.MESSAGES).increment(messages);
    }
  }

  /** Starts from friend lists. */
  static final class FirstMapper extends MessageMapper {
    @Override
    protected void map(LongWritable offset, Text text, Context context)
        throws IOException, InterruptedException {
      emit(line.readFriends(text, state), context);
    }
  }

  /** Goes on from the former iteration. */
  static final class LaterMapper extends MessageMapper {
    @Override
    protected void map(LongWritable offset, Text text, Context context)
        throws IOException, InterruptedException {
      emit(line.readState(text, state), context);
    }
  }

  /** Finds the vertex among the values, lets it be updated, and writes it. */
  private abstract static class VertexReducer
      extends Reducer<VertexId, VertexState, NullWritable, Text> {
    private final VertexLine line = new VertexLine();
    private final VertexState state = new VertexState();
    private long updated;
    private long vertices;
    private long components;

    /** The new minimum of a vertex; {@code received} is the smallest message or the maximum. */
    abstract long newMinimum(VertexState state, long received);

    /** Whether a vertex with this new minimum counts as updated. */
    abstract boolean isUpdated(VertexState state, long newMinimum);

    @Override
    protected final void reduce(VertexId vertex, Iterable<VertexState> values, Context context)
        throws IOException, InterruptedException {
      boolean found = false;
      long received = Long.MAX_VALUE;
      for (VertexState value : values) {
        if (value.isMessage()) {
          received = Math.min(received, value.minimum());
        } else {
          state.copyFrom(value);
          found = true;
        }
      }
      if (!found) {
        throw new IOException(
            "vertex " + vertex + " got a message but has no line of its own: lists not symmetric");
      }
      long minimum = newMinimum(state, received);
      boolean isUpdated = isUpdated(state, minimum);
      state.setVertex(minimum, isUpdated);
      context.write(NullWritable.get(), line.text(vertex.vertex(), state));
      updated += isUpdated ? 1 : 0;
      components += minimum == vertex.vertex() ? 1 : 0;
      vertices++;
    }

    @Override
    protected final void cleanup(Context context) {
      context.getCounter(ComponentCounter.UPDATED).increment(updated);
      context.getCounter(ComponentCounter.VERTICES).increment(vertices);
      context.getCounter(ComponentCounter.COMPONENTS).increment(components);
    }
  }

  /** Takes the minimum from the list itself; it is sorted, but that isn't relied upon. */
  static final class FirstReducer extends VertexReducer {
    @Override
    long newMinimum(VertexState state, long received) {
      long minimum = state.minimum();
      for (int i = 0; i < state.neighbours().size(); i++) {
        minimum = Math.min(minimum, state.neighbours().get(i));
      }
      return minimum;
    }

    @Override
    boolean isUpdated(VertexState state, long newMinimum) {
      return true;
    }
  }

  /** Takes the minimum from the messages. */
  static final class LaterReducer extends VertexReducer {
    @Override
    long newMinimum(VertexState state, long received) {
      return Math.min(state.minimum(), received);
    }

    @Override
    boolean isUpdated(VertexState state, long newMinimum) {
      return newMinimum < state.minimum();
    }
  }
}

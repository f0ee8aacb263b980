package org.assay.jobs.vertex;

import java.io.IOException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.assay.jobs.graph.VertexId;

/**
 * Passes each vertex, and sends a message along its edges if it is active. The first iteration
 * reads friend lists, later ones what the former wrote.
 */
public abstract class VertexMapper extends Mapper<LongWritable, Text, VertexId, VertexState> {
  private final VertexLine line = new VertexLine();
  private final VertexState state = new VertexState();
  private final VertexState message = new VertexState();
  private final VertexId key = new VertexId();
  private boolean isFirst;
  private long messages;

  /** Gives a vertex its first value; by default it is active and has its own number. */
  protected void begin(long vertex, VertexState vertexState) {
    vertexState.setVertex(vertex, true);
  }

  /** Whether a vertex sends messages. */
  protected boolean sends(VertexState vertexState) {
    return vertexState.isActive();
  }

  /** What a vertex sends. */
  protected abstract long message(VertexState vertexState);

  /** Whether a neighbour needs the message. */
  protected boolean isFor(long neighbour, VertexState vertexState) {
    return true;
  }

  /** Adds to the counter of messages at the end of a task. */
  protected abstract void count(Context context, long sent);

  @Override
  protected void setup(Context context) throws IOException, InterruptedException {
    isFirst = VertexJob.isFirst(context.getConfiguration());
  }

  @Override
  protected final void map(LongWritable offset, Text text, Context context)
      throws IOException, InterruptedException {
    long vertex;
    if (isFirst) {
      vertex = line.readFriends(text, state);
      begin(vertex, state);
    } else {
      vertex = line.readState(text, state);
    }
    key.set(vertex);
    context.write(key, state);
    if (!sends(state)) {
      return;
    }
    message.setMessage(message(state));
    for (int i = 0; i < state.neighbours().size(); i++) {
      long neighbour = state.neighbours().get(i);
      if (isFor(neighbour, state)) {
        key.set(neighbour);
        context.write(key, message);
        messages++;
      }
    }
  }

  @Override
  protected final void cleanup(Context context) {
    count(context, messages);
  }
}

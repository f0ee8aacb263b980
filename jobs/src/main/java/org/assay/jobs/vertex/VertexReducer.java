package org.assay.jobs.vertex;

import java.io.IOException;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;
import org.assay.jobs.graph.VertexId;

/**
 * Finds the vertex among the values, which come in no fixed order, lets it be updated by the
 * messages, and writes it.
 */
public abstract class VertexReducer extends Reducer<VertexId, VertexState, NullWritable, Text> {
  private final VertexLine line = new VertexLine();
  private final VertexState state = new VertexState();
  private long vertices;
  private long active;

  /** Forgets the messages of the vertex before. */
  protected abstract void forget();

  /** Takes a message. */
  protected abstract void receive(long message);

  /** Gives the vertex its new value, and makes it active or inactive, when all messages are in. */
  protected abstract void update(long vertex, VertexState vertexState);

  /** Adds to the counters at the end of a task: vertices written, and active ones among them. */
  protected abstract void count(Context context, long written, long writtenActive);

  @Override
  protected final void reduce(VertexId vertex, Iterable<VertexState> values, Context context)
      throws IOException, InterruptedException {
    boolean found = false;
    forget();
    for (VertexState value : values) {
      if (value.isMessage()) {
        receive(value.value());
      } else {
        state.copyFrom(value);
        found = true;
      }
    }
    if (!found) {
      throw notSymmetric(vertex);
    }
    update(vertex.vertex(), state);
    context.write(NullWritable.get(), line.text(vertex.vertex(), state));
    vertices++;
    active += state.isActive() ? 1 : 0;
  }

  /** A vertex that isn't there got a message. */
  public static IOException notSymmetric(VertexId vertex) {
    return new IOException(
        "vertex " + vertex + " got a message but has no line of its own: lists not symmetric");
  }

  @Override
  protected final void cleanup(Context context) {
    count(context, vertices, active);
  }
}

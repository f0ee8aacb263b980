package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Counts the triads that edges close: if the flags of a pair sum to less than their number, one of
 * them is an edge's 0, which closes as many triads as there are ones.
 *
 * @param <K> a pair of vertices
 */
abstract class ClosingReducer<K> extends Reducer<K, ByteWritable, NullWritable, Text> {
  private long triangles;

  @Override
  protected final void reduce(K pair, Iterable<ByteWritable> flags, Context context) {
    long sum = 0;
    long count = 0;
    for (ByteWritable flag : flags) {
      sum += flag.get();
      count++;
    }
    if (sum != count) {
      triangles += sum;
    }
  }

  @Override
  protected final void cleanup(Context context) throws IOException, InterruptedException {
    tell(triangles, context);
  }

  /** Writes the task's count, at its end, also when it counted nothing. */
  protected abstract void tell(long triangles, Context context)
      throws IOException, InterruptedException;
}

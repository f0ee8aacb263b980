package org.assay.jobs.sums;

import java.io.IOException;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Reducer;

/** Adds up the numbers that a map task has of a key; may run any number of times. */
public final class SumCombiner<K> extends Reducer<K, VLongWritable, K, VLongWritable> {
  private final VLongWritable total = new VLongWritable();

  @Override
  protected void reduce(K key, Iterable<VLongWritable> numbers, Context context)
      throws IOException, InterruptedException {
    total.set(sum(numbers));
    context.write(key, total);
  }

  /** The sum of the numbers of a key; fails where it doesn't fit into 64 bits. */
  public static long sum(Iterable<VLongWritable> numbers) {
    long sum = 0;
    for (VLongWritable number : numbers) {
      sum = Math.addExact(sum, number.get());
    }
    return sum;
  }
}

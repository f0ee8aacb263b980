package org.assay.direct;

import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;

/**
 * What a reducer fetches and merges, in the tier that the job names.
 *
 * <p>The value of {@code mapreduce.job.reduce.shuffle.consumer.plugin.class}. It is MapReduce's own
 * shuffle but for its directories.
 */
public final class ReduceShuffle<K, V> extends Shuffle<K, V> {
  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public void init(ShuffleConsumerPlugin.Context context) {
    Direct.narrow(context.getJobConf(), context.getReduceId(), context.getReporter());
    super.init(context);
  }
}

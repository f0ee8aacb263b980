package org.assay.direct;

import java.io.IOException;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;

/**
 * Spills, merges and map outputs in the tier that the job names.
 *
 * <p>The value of {@code mapreduce.job.map.output.collector.class}. It is MapReduce's own collector
 * but for its directories, and the shuffle service finds its files since it looks into all.
 */
public final class MapOutput<K, V> extends MapTask.MapOutputBuffer<K, V> {
  @Override
  public void init(MapOutputCollector.Context context) throws IOException, ClassNotFoundException {
    Direct.narrow(context.getJobConf(), context.getMapTask().getTaskID(), context.getReporter());
    super.init(context);
  }
}

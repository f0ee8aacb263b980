package org.assay.levitated;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Merger;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reducer's shuffle that keeps one stream open to each map output and merges the streams as they
 * come.
 *
 * <p>The value of {@code mapreduce.job.reduce.shuffle.consumer.plugin.class}. The streams come from
 * the stock shuffle service. A stream has a buffer of its socket and one in the heap; nothing is
 * written to local directories. Streams begin when all maps have ended, since a merge needs the
 * first record of each. What can't be streamed is shuffled by {@link Shuffle}, and counted by its
 * reason.
 */
public final class LevitatedShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
  /** The most streams of a reducer: jobs with more maps are shuffled in the stock way. */
  static final String STREAMS = "assay.levitated.streams";

  static final int DEFAULT_STREAMS = 256;

  /** Of the heap, for the buffers of streams; the rest is the job's own. */
  private static final int HEAP_SHARE = 4;

  /** In the heap, for one stream: its own buffer, that of its records and a codec's. */
  private static final long STREAM_BYTES = 3L * MapOutputStream.HEAP_BYTES;

  /** The group of the counters. */
  static final String COUNTERS = "AssayLevitated";

  private static final Logger LOG = LoggerFactory.getLogger(LevitatedShuffle.class);

  private final List<MapOutputStream> streams = new ArrayList<>();
  private ShuffleConsumerPlugin.Context<K, V> context;
  private Shuffle<K, V> stock;

  @Override
  public void init(ShuffleConsumerPlugin.Context<K, V> context) {
    this.context = context;
    String reason = whyStock();
    if (reason != null) {
      LOG.warn("Shuffled in the stock way: {}", reason);
      context.getReporter().incrCounter(COUNTERS, reason, 1);
      stock = new Shuffle<>();
      stock.init(context);
    }
  }

  /** The name of the counter of a job that can't be streamed; null for one that can. */
  private String whyStock() {
    JobConf conf = context.getJobConf();
    if (context.getLocalMapFiles() != null) {
      return "STOCK_LOCAL_JOB";
    }
    if (conf.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT)) {
      return "STOCK_SSL";
    }
    if (CryptoUtils.isEncryptedSpillEnabled(conf)) {
      return "STOCK_ENCRYPTED";
    }
    if (conf.getNumMapTasks() > conf.getInt(STREAMS, DEFAULT_STREAMS)) {
      return "STOCK_TOO_MANY_MAPS";
    }
    long room = Runtime.getRuntime().maxMemory() / HEAP_SHARE / STREAM_BYTES;
    return conf.getNumMapTasks() > room ? "STOCK_SMALL_HEAP" : null;
  }

  @Override
  @SuppressWarnings("unchecked")
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    if (stock != null) {
      return stock.run();
    }
    JobConf conf = context.getJobConf();
    MapOutputs outputs =
        new MapOutputs(
            conf,
            context.getReduceId(),
            context.getUmbilical(),
            context.getReporter(),
            context.getStatus(),
            context.getReduceTask().getShuffleSecret());
    List<Merger.Segment<K, V>> segments = new ArrayList<>();
    for (TaskID map : outputs.awaitAll()) {
      MapOutputStream stream = new MapOutputStream(outputs, map);
      streams.add(stream);
      long length = stream.length();
      context.getShuffledMapsCounter().increment(1);
      context.getReduceShuffleBytes().increment(length);
      IFile.Reader<K, V> reader =
          new IFile.Reader<>(conf, new FSDataInputStream(stream), length, context.getCodec(), null);
      segments.add(new Merger.Segment<>(reader, true));
    }
    context.getReporter().incrCounter(COUNTERS, "STREAMS", segments.size());
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
    // With as many at once as there are, the merge has no pass that writes.
    return Merger.merge(
        conf,
        context.getLocalFS(),
        (Class<K>) conf.getMapOutputKeyClass(),
        (Class<V>) conf.getMapOutputValueClass(),
        segments,
        Math.max(2, segments.size()),
        new Path(context.getReduceId().toString()),
        (RawComparator<K>) conf.getOutputKeyComparator(),
        context.getReporter(),
        false,
        null,
        null,
        null);
  }

  @Override
  public void close() {
    if (stock != null) {
      stock.close();
    }
    for (MapOutputStream stream : streams) {
      stream.close();
      context.getReporter().incrCounter(COUNTERS, "REOPENED", stream.reopened());
      context.getReporter().incrCounter(COUNTERS, "BYTES", stream.received());
    }
  }
}

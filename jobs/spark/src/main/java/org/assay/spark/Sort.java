package org.assay.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/** Sorts SequenceFiles of pairs of bytes by their keys, all files together. */
final class Sort {
  private Sort() {}

  static void rdd(Run run) {
    JavaPairRDD<byte[], byte[]> pairs =
        run.context()
            .newAPIHadoopFile(
                run.input(), input(), BytesWritable.class, BytesWritable.class, run.hadoop())
            .mapToPair(pair -> new Tuple2<>(pair._1().copyBytes(), pair._2().copyBytes()));
    JavaPairRDD<byte[], byte[]> sorted =
        pairs.sortByKey(new ByteOrder(), true, run.partitions(pairs));
    LongAccumulator written = run.count();
    sorted
        .mapToPair(
            pair -> {
              written.add(1);
              return new Tuple2<>(new BytesWritable(pair._1()), new BytesWritable(pair._2()));
            })
        .saveAsNewAPIHadoopFile(
            run.output(), BytesWritable.class, BytesWritable.class, output(), run.hadoop());
    run.result("pairs_written", written.value());
    run.result("partitions", sorted.getNumPartitions());
  }

  @SuppressWarnings("unchecked")
  private static Class<? extends InputFormat<BytesWritable, BytesWritable>> input() {
    return (Class<? extends InputFormat<BytesWritable, BytesWritable>>)
        (Class<?>) SequenceFileInputFormat.class;
  }

  @SuppressWarnings("unchecked")
  private static Class<? extends OutputFormat<BytesWritable, BytesWritable>> output() {
    return (Class<? extends OutputFormat<BytesWritable, BytesWritable>>)
        (Class<?>) SequenceFileOutputFormat.class;
  }

  /** Bytes in the order of unsigned numbers, as Hadoop's own. */
  static final class ByteOrder implements Comparator<byte[]>, Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public int compare(byte[] left, byte[] right) {
      return Arrays.compareUnsigned(left, right);
    }
  }
}

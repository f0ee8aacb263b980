package org.assay.spark;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FixedLengthInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/** Sorts TeraGen's records of 100 bytes by their first 10 bytes into a total order. */
final class TeraSort {
  private static final int RECORD_BYTES = 100;
  private static final int KEY_BYTES = 10;

  private TeraSort() {}

  static void rdd(Run run) {
    Configuration conf = new Configuration(run.hadoop());
    FixedLengthInputFormat.setRecordLength(conf, RECORD_BYTES);
    JavaPairRDD<byte[], byte[]> records =
        run.context()
            .newAPIHadoopFile(
                run.input(),
                FixedLengthInputFormat.class,
                LongWritable.class,
                BytesWritable.class,
                conf)
            .values()
            .mapToPair(record -> split(record.getBytes()));
    LongAccumulator written = run.count();
    records
        .sortByKey(new Sort.ByteOrder(), true, run.partitions(records))
        .mapToPair(
            record -> {
              written.add(1);
              return record;
            })
        .saveAsNewAPIHadoopFile(
            run.output(), byte[].class, byte[].class, RecordOutputFormat.class, run.hadoop());
    run.result("rows_written", written.value());
  }

  private static Tuple2<byte[], byte[]> split(byte[] record) {
    return new Tuple2<>(
        Arrays.copyOf(record, KEY_BYTES), Arrays.copyOfRange(record, KEY_BYTES, RECORD_BYTES));
  }

  /**
   * Writes keys and values one after the other, and nothing between them. Files have as many copies
   * as Hadoop's TeraSort gives them, by its property.
   */
  public static final class RecordOutputFormat extends FileOutputFormat<byte[], byte[]> {
    private static final String REPLICATION = "mapreduce.terasort.output.replication";

    @Override
    public RecordWriter<byte[], byte[]> getRecordWriter(TaskAttemptContext task)
        throws IOException {
      Configuration conf = task.getConfiguration();
      Path file = getDefaultWorkFile(task, "");
      FileSystem files = file.getFileSystem(conf);
      FSDataOutputStream out =
          files.create(
              file,
              false,
              conf.getInt("io.file.buffer.size", 4096),
              (short) conf.getInt(REPLICATION, 1),
              files.getDefaultBlockSize(file));
      return new RecordWriter<>() {
        @Override
        public void write(byte[] key, byte[] value) throws IOException {
          out.write(key);
          out.write(value);
        }

        @Override
        public void close(TaskAttemptContext context) throws IOException {
          out.close();
        }
      };
    }
  }
}

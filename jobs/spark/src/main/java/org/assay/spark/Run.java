package org.assay.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.LongAccumulator;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import scala.Tuple2;

/**
 * What a command has while it runs: Spark, the input, the output, the options and the report.
 *
 * <p>Lines are read and written through the formats that Hadoop's properties {@code
 * mapreduce.job.inputformat.class} and {@code mapreduce.job.outputformat.class} name, by default
 * those of text files.
 */
final class Run {
  private final SparkSession spark;
  private final JavaSparkContext context;
  private final Arguments arguments;
  private final RunReport report;

  Run(SparkSession spark, Arguments arguments, RunReport report) {
    this.spark = spark;
    this.context = new JavaSparkContext(spark.sparkContext());
    this.arguments = arguments;
    this.report = report;
  }

  SparkSession spark() {
    return spark;
  }

  JavaSparkContext context() {
    return context;
  }

  /** Hadoop's settings, to be copied before they are changed. */
  Configuration hadoop() {
    return context.hadoopConfiguration();
  }

  Arguments arguments() {
    return arguments;
  }

  /**
   * The value of an option that is a whole number; what is too large for it becomes its largest.
   */
  int number(String name, int byDefault, int least) throws UsageException {
    return (int) Math.min(Integer.MAX_VALUE, arguments.number(name, byDefault, least));
  }

  String input() {
    return arguments.input();
  }

  String output() {
    return arguments.output();
  }

  /** The number of partitions after a sort, for which Spark takes those of its input by default. */
  int partitions(JavaPairRDD<?, ?> sorted) {
    return context.getConf().getInt(Main.PARALLELISM, sorted.getNumPartitions());
  }

  void result(String name, long value) {
    report.result(name, value);
  }

  void result(String name, double value) {
    report.result(name, value);
  }

  /** The lines of the input; bytes that aren't UTF-8 become U+FFFD. */
  JavaRDD<String> lines() {
    return texts(hadoop()).map(Text::toString);
  }

  /**
   * The lines of the input, read with these settings of Hadoop: an object that changes.
   *
   * <p>Files have at least as many partitions as {@code SparkContext.textFile} makes, which is two
   * where there are two cores.
   */
  JavaRDD<Text> texts(Configuration conf) {
    return context
        .newAPIHadoopFile(input(), inputFormat(), LongWritable.class, Text.class, divided(conf))
        .values();
  }

  private Configuration divided(Configuration conf) {
    if (!FileInputFormat.class.isAssignableFrom(inputFormat())
        || conf.get(FileInputFormat.SPLIT_MAXSIZE) != null) {
      return conf;
    }
    Path path = new Path(input());
    Configuration divided = new Configuration(conf);
    try {
      long bytes = path.getFileSystem(conf).getContentSummary(path).getLength();
      int parts = context.defaultMinPartitions();
      divided.setLong(FileInputFormat.SPLIT_MAXSIZE, Math.max(1, (bytes + parts - 1) / parts));
    } catch (FileNotFoundException error) {
      return conf; // Spark itself says that the input is missing.
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return divided;
  }

  /** The lines of the input as a data frame with the column {@code value}. */
  Dataset<Row> frame() {
    // Spark's own reader of text files splits and packs them in its own way, and makes no strings.
    return inputFormat() == TextInputFormat.class
        ? spark.read().text(input())
        : spark.createDataset(lines().rdd(), Encoders.STRING()).toDF("value");
  }

  /** Writes lines to the output, and returns their number. */
  long write(JavaRDD<String> lines) {
    return write(lines, output());
  }

  /** Writes lines to a path, and returns their number. */
  long write(JavaRDD<String> lines, String path) {
    // Added to in the stage of the action, where Spark counts each task once whatever is repeated.
    LongAccumulator written = count();
    lines
        .mapToPair(
            line -> {
              written.add(1);
              return new Tuple2<>(NullWritable.get(), new Text(line));
            })
        .saveAsNewAPIHadoopFile(path, NullWritable.class, Text.class, outputFormat(), hadoop());
    return written.value();
  }

  /**
   * Writes lines {@code text<TAB>count}, or the other way round, and reports the sum of the counts
   * by this name, and the number of lines by it after {@code distinct_}.
   */
  void writeCounts(JavaPairRDD<String, Long> counts, boolean countFirst, String name) {
    LongAccumulator sum = count();
    long lines =
        write(
            counts.map(
                entry -> {
                  sum.add(entry._2());
                  return countFirst
                      ? entry._2() + "\t" + entry._1()
                      : entry._1() + "\t" + entry._2();
                }));
    result(name, sum.value());
    result("distinct_" + name, lines);
  }

  /** A count that tasks add to; it is exact where they do so in the stage of an action. */
  LongAccumulator count() {
    return context.sc().longAccumulator();
  }

  /** Deletes the output, as a run that failed has none. */
  void deleteOutput() throws IOException {
    Path output = new Path(output());
    output.getFileSystem(hadoop()).delete(output, true);
  }

  @SuppressWarnings("unchecked")
  private Class<? extends InputFormat<LongWritable, Text>> inputFormat() {
    return (Class<? extends InputFormat<LongWritable, Text>>)
        (Class<?>)
            hadoop()
                .getClass(
                    MRJobConfig.INPUT_FORMAT_CLASS_ATTR, TextInputFormat.class, InputFormat.class);
  }

  @SuppressWarnings("unchecked")
  private Class<? extends OutputFormat<NullWritable, Text>> outputFormat() {
    return (Class<? extends OutputFormat<NullWritable, Text>>)
        (Class<?>)
            hadoop()
                .getClass(
                    MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR,
                    TextOutputFormat.class,
                    OutputFormat.class);
  }
}

package org.assay.jobs.degrees;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.sums.SumCombiner;

/**
 * Histogram: job 2 of the degree distribution.
 *
 * <p>Reads {@code vertex<TAB>degree}. Writes {@code degree<TAB>vertices} per degree that occurs.
 * The combiner leaves a record per degree and map task.
 */
final class HistogramJob {
  private HistogramJob() {}

  static void configure(Job job, Path degrees, Path output) throws IOException {
    job.setMapperClass(DegreeMapper.class);
    job.setCombinerClass(SumCombiner.class);
    job.setReducerClass(VerticesReducer.class);
    job.setMapOutputKeyClass(LongWritable.class);
    job.setMapOutputValueClass(VLongWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, degrees);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends a vertex's degree with the number one. */
  static final class DegreeMapper extends Mapper<LongWritable, Text, LongWritable, VLongWritable> {
    private final IdScanner scanner = new IdScanner("\t");
    private final LongWritable degree = new LongWritable();
    private final VLongWritable one = new VLongWritable(1);

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      scanner.hasNext();
      scanner.next();
      scanner.hasNext();
      degree.set(scanner.next());
      context.write(degree, one);
    }
  }

  /** Writes how many vertices have a degree. */
  static final class VerticesReducer
      extends Reducer<LongWritable, VLongWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private long degrees;

    @Override
    protected void reduce(LongWritable degree, Iterable<VLongWritable> numbers, Context context)
        throws IOException, InterruptedException {
      line.clear().put(degree.get()).put('\t').put(SumCombiner.sum(numbers));
      context.write(NullWritable.get(), line.text());
      degrees++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(DegreeCounter.DEGREES).increment(degrees);
    }
  }
}

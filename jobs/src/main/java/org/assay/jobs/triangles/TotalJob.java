package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;

/**
 * Total: job 3 of triangle counting, with one reducer whatever the settings say.
 *
 * <p>Reads the counts of job 2's tasks, {@code 0<TAB>count}. Writes one line with their sum.
 */
final class TotalJob {
  private TotalJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(CountMapper.class);
    job.setReducerClass(SumReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(LongWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    job.setNumReduceTasks(1);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Passes key zero and a task's count. */
  static final class CountMapper extends Mapper<LongWritable, Text, VertexId, LongWritable> {
    private final IdScanner scanner = new IdScanner("\t");
    private final VertexId zero = new VertexId();
    private final LongWritable count = new LongWritable();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      scanner.hasNext();
      zero.set(scanner.next());
      scanner.hasNext();
      count.set(scanner.next());
      context.write(zero, count);
    }
  }

  /** Sums the counts; a graph without a triangle has the total 0, not an empty output. */
  static final class SumReducer extends Reducer<VertexId, LongWritable, NullWritable, Text> {
    private long total;

    @Override
    protected void reduce(VertexId zero, Iterable<LongWritable> counts, Context context) {
      for (LongWritable count : counts) {
        total = Math.addExact(total, count.get());
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      context.getCounter(TriangleCounter.TRIANGLES).increment(total);
      context.write(NullWritable.get(), new LineBuilder().put(total).text());
    }
  }
}

package org.assay.jobs.kmeans;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Writes each point's line after the index of its nearest centre and a tab; maps only. */
final class AssignmentJob {
  private AssignmentJob() {}

  static void configure(Job job, Path input, Path centres, Path output) throws IOException {
    Centres.use(job.getConfiguration(), centres);
    job.setMapperClass(AssignmentMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(IntWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Finds the nearest centre. */
  static final class AssignmentMapper extends Mapper<LongWritable, Text, IntWritable, Text> {
    private final IntWritable index = new IntWritable();
    private PointScanner scanner;
    private Centres centres;
    private long points;

    @Override
    protected void setup(Context context) throws IOException {
      scanner = PointScanner.of(context.getConfiguration());
      centres = Centres.read(context.getConfiguration());
    }

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      int dimensions = scanner.read(line);
      if (dimensions > 0) {
        index.set(centres.nearest(scanner.coordinates(), dimensions));
        context.write(index, line);
        points++;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(KMeansCounter.POINTS).increment(points);
    }
  }
}

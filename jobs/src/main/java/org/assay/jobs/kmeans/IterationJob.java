package org.assay.jobs.kmeans;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * One iteration of k-means: each point goes to its nearest centre, and the mean of a centre's
 * points is the new centre. A centre without points stays where it is.
 *
 * <p>As published all points go to one reducer; the tuned variant adds them up on the map side and
 * lets several reducers have a part of the centres each.
 */
final class IterationJob {
  private IterationJob() {}

  static void configure(Job job, boolean tuned, Path input, Path centres, Path output)
      throws IOException {
    Centres.use(job.getConfiguration(), centres);
    job.setMapperClass(PointMapper.class);
    job.setPartitionerClass(IndexPartitioner.class);
    job.setReducerClass(MeanReducer.class);
    job.setMapOutputKeyClass(IntWritable.class);
    job.setMapOutputValueClass(PointSum.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    if (tuned) {
      job.setCombinerClass(SumCombiner.class);
    } else {
      job.setNumReduceTasks(1);
    }
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each point to its nearest centre. */
  static final class PointMapper extends Mapper<LongWritable, Text, IntWritable, PointSum> {
    private final IntWritable index = new IntWritable();
    private final PointSum point = new PointSum();
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
      if (dimensions == 0) {
        return;
      }
      index.set(centres.nearest(scanner.coordinates(), dimensions));
      point.setPoint(scanner.coordinates(), dimensions);
      context.write(index, point);
      points++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(KMeansCounter.POINTS).increment(points);
    }
  }

  /** Makes it known which reducer has which centre, also when no point arrives there. */
  static final class IndexPartitioner extends Partitioner<IntWritable, PointSum> {
    @Override
    public int getPartition(IntWritable index, PointSum point, int partitions) {
      return index.get() % partitions;
    }
  }

  /** Adds up the points of a map task. */
  static final class SumCombiner extends Reducer<IntWritable, PointSum, IntWritable, PointSum> {
    private final PointSum sum = new PointSum();

    @Override
    protected void reduce(IntWritable index, Iterable<PointSum> points, Context context)
        throws IOException, InterruptedException {
      sum.clear();
      for (PointSum point : points) {
        sum.add(point);
      }
      context.write(index, sum);
    }
  }

  /** Writes the new centres, and the old ones of the clusters that it got no point of. */
  static final class MeanReducer extends Reducer<IntWritable, PointSum, NullWritable, Text> {
    private final Text line = new Text();
    private final PointSum sum = new PointSum();
    private Centres centres;
    private boolean[] written;
    private long converged;
    private long empty;

    @Override
    protected void setup(Context context) throws IOException {
      centres = Centres.read(context.getConfiguration());
      written = new boolean[centres.size()];
    }

    @Override
    protected void reduce(IntWritable index, Iterable<PointSum> points, Context context)
        throws IOException, InterruptedException {
      sum.clear();
      for (PointSum point : points) {
        sum.add(point);
      }
      converged += sum.moves(centres.get(index.get())) ? 0 : 1;
      write(index.get(), sum.count(), sum.mean(), context);
    }

    private void write(int index, long points, double[] centre, Context context)
        throws IOException, InterruptedException {
      line.set(Centres.line(index, points, centre));
      context.write(NullWritable.get(), line);
      written[index] = true;
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      int own = context.getTaskAttemptID().getTaskID().getId();
      for (int i = own; i < written.length; i += context.getNumReduceTasks()) {
        if (!written[i]) {
          write(i, 0, centres.get(i), context);
          empty++;
        }
      }
      context.getCounter(KMeansCounter.CONVERGED).increment(converged + empty);
      context.getCounter(KMeansCounter.EMPTY).increment(empty);
    }
  }
}

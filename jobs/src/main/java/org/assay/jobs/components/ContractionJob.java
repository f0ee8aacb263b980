package org.assay.jobs.components;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexPair;

/**
 * Contraction: each map links the vertices of its pairs to the smallest that they are connected to,
 * in memory, and one reducer does the same with what the maps found.
 *
 * <p>It reads and writes the lines of {@link StarJob}. The output has the components if the reducer
 * had room for all vertices. If not, it has written the links of those that it held each time that
 * its memory was full ({@link StarCounter#RELEASED}): these keep together what is connected, so
 * that other jobs can go on with them.
 */
final class ContractionJob {
  private ContractionJob() {}

  static void configure(Job job, int mostVertices, boolean first, Path input, Path output)
      throws IOException {
    StarJob.configureMap(job, false, mostVertices, first);
    job.setReducerClass(ForestReducer.class);
    job.setNumReduceTasks(1);
    StarJob.configurePaths(job, input, output);
  }

  /** Links vertices until its memory is full, or the input ends. */
  static final class ForestReducer extends Reducer<VertexPair, NullWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private Forest forest;
    private long pairs;
    private long roots;
    private long released;

    @Override
    protected void setup(Context context) {
      forest = StarJob.forest(context.getConfiguration());
    }

    @Override
    protected void reduce(VertexPair pair, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      if (!forest.join(pair.first(), pair.second())) {
        write(context);
        released++;
        forest.join(pair.first(), pair.second());
      }
    }

    private void write(Context context) throws IOException, InterruptedException {
      for (int at = 0; at < forest.size(); at++) {
        long vertex = forest.vertex(at);
        long smallest = forest.smallest(at);
        line.clear().put(vertex).put('\t').put(smallest);
        context.write(NullWritable.get(), line.text());
        roots += vertex == smallest ? 1 : 0;
      }
      pairs += forest.size();
      forest.clear();
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      write(context);
      context.getCounter(StarCounter.PAIRS).increment(pairs);
      context.getCounter(StarCounter.ROOTS).increment(roots);
      context.getCounter(StarCounter.RELEASED).increment(released);
    }
  }
}

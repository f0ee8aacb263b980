package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.degreeorder.Intersecting;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.LineBuilder;

/**
 * Intersection: job 3, the last one, of triangle counting without triads; see {@link Intersecting}.
 *
 * <p>Each reduce task writes one line with its count at its end, also when it counted nothing, so
 * the number of triangles is the sum of the output's lines.
 */
final class IntersectionJob {
  private IntersectionJob() {}

  static void configure(Job job, Path directions, Path output) throws IOException {
    Intersecting.configureMap(job, directions);
    job.setReducerClass(CountReducer.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Counts the triangles of all its vertices. */
  static final class CountReducer extends Intersecting.IntersectingReducer<NullWritable, Text> {
    private long triangles;

    @Override
    protected void take(long lowest, long middle, IdList higher, IdList thirds, Context context) {
      triangles += thirds.size();
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      super.cleanup(context);
      context.write(NullWritable.get(), new LineBuilder().put(triangles).text());
    }
  }
}

package org.assay.jobs.vertex;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.VertexId;

/** Sets up one iteration of a program on vertices. */
public final class VertexJob {
  private static final String FIRST = "assay.vertex.first-iteration";

  private VertexJob() {}

  /**
   * Sets up a job from friend lists, if it is the first, or from vertex lines to vertex lines.
   *
   * @see VertexLine
   */
  public static void configure(
      Job job,
      boolean first,
      Class<? extends VertexMapper> mapper,
      Class<? extends VertexReducer> reducer,
      Path input,
      Path output)
      throws IOException {
    markFirst(job, first);
    job.setMapperClass(mapper);
    job.setReducerClass(reducer);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VertexState.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Tells the tasks of a job whether it is the first iteration. */
  public static void markFirst(Job job, boolean first) {
    job.getConfiguration().setBoolean(FIRST, first);
  }

  /** Whether a task's job is the first iteration. */
  public static boolean isFirst(Configuration conf) {
    return conf.getBoolean(FIRST, false);
  }
}

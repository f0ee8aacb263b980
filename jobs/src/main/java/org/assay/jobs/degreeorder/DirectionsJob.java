package org.assay.jobs.degreeorder;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/**
 * Directions: job 2 of the workloads that don't write the triads.
 *
 * <p>Reads the lists of {@link NeighboursJob}. Writes a binary record per vertex with its degree
 * and the list of the neighbours that come after it, ascending by degree and number.
 */
public final class DirectionsJob {
  private DirectionsJob() {}

  /** Sets up a job from {@code lists} to {@code output}. */
  public static void configure(Job job, Path lists, Path output) throws IOException {
    Directing.configureMap(job, lists);
    job.setReducerClass(ListReducer.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(HeadedList.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Writes degree and list. */
  static final class ListReducer extends Directing.DirectingReducer<VertexId, HeadedList> {
    private final HeadedList directed = new HeadedList();

    @Override
    protected void write(VertexId vertex, int degree, IdList higher, Context context)
        throws IOException, InterruptedException {
      directed.setHead(degree);
      directed.ids().pack(higher);
      context.write(vertex, directed);
    }
  }
}

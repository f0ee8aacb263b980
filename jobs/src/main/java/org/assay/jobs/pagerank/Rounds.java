package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.assay.jobs.driver.JobFailedException;

/** The jobs of a variant: those before the iterations, those of each, and those after them. */
interface Rounds {
  /** Reads the edges; the counters tell the number of vertices. */
  Counters prepare(Path edges) throws IOException, InterruptedException, JobFailedException;

  /**
   * Runs an iteration, the first after {@link #prepare} being number 1.
   *
   * @return the counters of the job that found the new ranks
   */
  Counters next(long iteration, double damping, long vertices)
      throws IOException, InterruptedException, JobFailedException;

  /** Puts the ranks where they belong. */
  void finish(Path output) throws IOException, InterruptedException, JobFailedException;

  /** The number of edges, once known. */
  long edges();

  /** The number of vertices that no edge leaves, once known. */
  long danglingVertices();
}

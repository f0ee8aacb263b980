package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.degreeorder.DegreeOrder;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * The command {@code triangles-intersect}: the number of triangles of a canonical graph, each
 * counted once where two directed lists meet. See {@link org.assay.jobs.degreeorder.NeighboursJob},
 * {@link org.assay.jobs.degreeorder.DirectionsJob} and {@link IntersectionJob}.
 */
public final class IntersectTriangles extends Workload {
  @Override
  public String name() {
    return "triangles-intersect";
  }

  @Override
  public String summary() {
    return "the number of triangles, without listing triads (3 jobs)";
  }

  @Override
  protected String variant() {
    return "intersect";
  }

  @Override
  protected int expectedJobs() {
    return 3;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path directed = DegreeOrder.directions(jobs, input, report);
    Job job = jobs.newJob(IntersectionJob.class);
    IntersectionJob.configure(job, directed, output);
    DegreeOrder.reportTriangles(jobs.run("intersection", job), report);
    jobs.discard(directed);
  }
}

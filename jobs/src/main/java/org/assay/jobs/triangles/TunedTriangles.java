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
 * The command {@code triangles-tuned}: the number of triangles of a canonical graph, each counted
 * once at its lowest corner in degree order. See {@link org.assay.jobs.degreeorder.NeighboursJob},
 * {@link DegreeTriadsJob} and {@link DegreeClosingJob}.
 */
public final class TunedTriangles extends Workload {
  @Override
  public String name() {
    return "triangles-tuned";
  }

  @Override
  public String summary() {
    return "the number of triangles, by triads in degree order (3 jobs)";
  }

  @Override
  protected String variant() {
    return "tuned";
  }

  @Override
  protected int expectedJobs() {
    return 3;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path lists = DegreeOrder.degrees(jobs, input, report);

    Path triads = jobs.intermediate("triads");
    Job listing = jobs.newJob(DegreeTriadsJob.class);
    DegreeTriadsJob.configure(listing, lists, triads);
    DegreeOrder.reportDirected(jobs.run("triads", listing), report);
    jobs.discard(lists);

    Job closing = jobs.newJob(DegreeClosingJob.class);
    DegreeClosingJob.configure(closing, triads, output);
    DegreeOrder.reportTriangles(jobs.run("closing", closing), report);
    jobs.discard(triads);
  }
}

package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * The command {@code triangles}: the number of triangles of a canonical graph, each counted once
 * with its smallest corner as apex. See {@link TriadsJob}, {@link ClosingJob} and {@link TotalJob}.
 */
public final class Triangles extends Workload {
  @Override
  public String name() {
    return "triangles";
  }

  @Override
  public String summary() {
    return "the number of triangles (3 jobs)";
  }

  @Override
  protected int expectedJobs() {
    return 3;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path triads = jobs.intermediate("triads");
    Job listing = jobs.newJob(TriadsJob.class);
    TriadsJob.configure(listing, input, triads);
    Counters counters = jobs.run("triads", listing);
    report.result("edges", counters.findCounter(TriangleCounter.EDGES).getValue());
    report.result("wedges", counters.findCounter(TriangleCounter.WEDGES).getValue());

    Path counts = jobs.intermediate("counts");
    Job closing = jobs.newJob(ClosingJob.class);
    ClosingJob.configure(closing, triads, counts);
    jobs.run("closing", closing);
    jobs.discard(triads);

    Job total = jobs.newJob(TotalJob.class);
    TotalJob.configure(total, counts, output);
    counters = jobs.run("total", total);
    jobs.discard(counts);
    report.result("triangles", counters.findCounter(TriangleCounter.TRIANGLES).getValue());
  }
}

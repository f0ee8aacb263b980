package org.assay.jobs.degrees;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * The command {@code degree-distribution}: how many vertices of a canonical graph have each degree.
 * See {@link DegreesJob} and {@link HistogramJob}.
 */
public final class DegreeDistribution extends Workload {
  @Override
  public String name() {
    return "degree-distribution";
  }

  @Override
  protected String variant() {
    return "plain";
  }

  @Override
  public String summary() {
    return "how many vertices have each degree (2 jobs)";
  }

  @Override
  protected int expectedJobs() {
    return 2;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path degrees = jobs.intermediate("degrees");
    Job counting = jobs.newJob(DegreesJob.class);
    DegreesJob.configure(counting, input, degrees);
    Counters counters = jobs.run("degrees", counting);
    report.result("vertices", counters.findCounter(DegreeCounter.VERTICES).getValue());
    report.result("edges", counters.findCounter(DegreeCounter.EDGE_ENDS).getValue() / 2);

    Job histogram = jobs.newJob(HistogramJob.class);
    HistogramJob.configure(histogram, degrees, output);
    counters = jobs.run("histogram", histogram);
    jobs.discard(degrees);
    report.result("degrees", counters.findCounter(DegreeCounter.DEGREES).getValue());
  }
}

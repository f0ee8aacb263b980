package org.assay.jobs.linesort;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/** The command {@code sort-lines}. See {@link SortJob}. */
public final class LineSort extends Workload {
  @Override
  public String name() {
    return "sort-lines";
  }

  @Override
  protected String variant() {
    return "total-order";
  }

  @Override
  public String summary() {
    return "lines of text in the order of their bytes, over all output files (1 job)";
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Job job = jobs.newJob(SortJob.class);
    SortJob.configure(job, input, output);
    Counters counters = jobs.run("sort", job);
    report.result("lines_read", counters.findCounter(LineSortCounter.LINES_READ).getValue());
    report.result("lines_written", counters.findCounter(LineSortCounter.LINES_WRITTEN).getValue());
  }
}

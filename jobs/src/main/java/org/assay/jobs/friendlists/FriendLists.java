package org.assay.jobs.friendlists;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/** The command {@code friend-lists}: adjacency lists, see {@link FriendListsJob}. */
public final class FriendLists extends Workload {
  @Override
  public String name() {
    return "friend-lists";
  }

  @Override
  public String summary() {
    return "the sorted neighbours of each vertex, one line per vertex (1 job)";
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Job job = jobs.newJob(FriendListsJob.class);
    FriendListsJob.configure(job, input, output);
    Counters counters = jobs.run("friend-lists", job);
    long entries = counters.findCounter(FriendListCounter.NEIGHBOURS).getValue();
    report.result("vertices", counters.findCounter(FriendListCounter.VERTICES).getValue());
    report.result("edges", entries / 2);
  }
}

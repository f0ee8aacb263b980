package org.assay.jobs.degreeorder;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;

/** The jobs that workloads in degree order begin with, run as part of their sequence. */
public final class DegreeOrder {
  private DegreeOrder() {}

  /** Runs {@code degrees} and reports {@code vertices}; returns the lists' path. */
  public static Path degrees(JobSequence jobs, Path input, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path lists = jobs.intermediate("degrees");
    Job job = jobs.newJob(NeighboursJob.class);
    NeighboursJob.configure(job, input, lists);
    Counters counters = jobs.run("degrees", job);
    report.result("vertices", counters.findCounter(DegreeOrderCounter.VERTICES).getValue());
    return lists;
  }

  /**
   * Runs {@code degrees} and {@code directions} and reports {@code vertices}, {@code edges} and
   * {@code wedges}; returns the path of the directed lists.
   */
  public static Path directions(JobSequence jobs, Path input, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path lists = degrees(jobs, input, report);
    Path directed = jobs.intermediate("directions");
    Job job = jobs.newJob(DirectionsJob.class);
    DirectionsJob.configure(job, lists, directed);
    reportDirected(jobs.run("directions", job), report);
    jobs.discard(lists);
    return directed;
  }

  /** Reports {@code edges} and {@code wedges} of a job that directed the edges. */
  public static void reportDirected(Counters counters, RunReport report) {
    report.result("edges", counters.findCounter(DegreeOrderCounter.EDGES).getValue());
    report.result("wedges", counters.findCounter(DegreeOrderCounter.WEDGES).getValue());
  }

  /** Reports {@code triangles} of a job that found them. */
  public static void reportTriangles(Counters counters, RunReport report) {
    report.result("triangles", counters.findCounter(DegreeOrderCounter.TRIANGLES).getValue());
  }
}

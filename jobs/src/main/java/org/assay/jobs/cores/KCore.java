package org.assay.jobs.cores;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code k-core}: the core number of every vertex of a canonical graph, that is the
 * largest k such that the vertex lies in a part in which all have k neighbours or more. After the
 * friend lists, iterations run until one changes no estimate. See {@link CoreJob}.
 */
public final class KCore extends IterativeWorkload {
  private long messages;

  @Override
  public String name() {
    return "k-core";
  }

  @Override
  public String summary() {
    return "the core number of each vertex (1 job and 1 per iteration)";
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    CoreJob.configure(job, iteration == 1, input, output);
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    messages += value(counters, CoreCounter.MESSAGES);
    return value(counters, CoreCounter.CHANGED) == 0;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, CoreCounter.VERTICES));
    report.result("core_sum", value(last, CoreCounter.CORE_SUM));
    report.result("messages", messages);
  }
}

package org.assay.jobs.labels;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code label-propagation}: a community for every vertex of a canonical graph. After
 * the friend lists, iterations run until one changes no label, or as many as are asked for: labels
 * of all vertices change at once, and on bipartite parts may alternate forever. See {@link
 * LabelJob}.
 */
public final class LabelPropagation extends IterativeWorkload {
  private long messages;

  public LabelPropagation() {
    super("iterations", 5);
  }

  @Override
  public String name() {
    return "label-propagation";
  }

  @Override
  public String summary() {
    return "the community of each vertex (1 job and 1 per iteration)";
  }

  @Override
  public String optionsUsage() {
    return "    --iterations N         at most N iterations (5)\n";
  }

  @Override
  protected boolean isWholeAtBound() {
    return true;
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    LabelJob.configure(job, iteration == 1, input, output);
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    messages += value(counters, LabelCounter.MESSAGES);
    return value(counters, LabelCounter.CHANGED) == 0;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, LabelCounter.VERTICES));
    report.result("changed", value(last, LabelCounter.CHANGED));
    report.result("messages", messages);
  }
}

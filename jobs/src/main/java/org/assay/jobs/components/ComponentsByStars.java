package org.assay.jobs.components;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code components-tuned}: gives every vertex of a canonical graph the smallest vertex
 * number of its component, by large-star and small-star in turn. It ends when one of each, in a
 * row, changed nothing: then each component is a star around its smallest vertex. The number of
 * jobs doesn't grow with the diameter. See {@link StarJob}.
 */
public final class ComponentsByStars extends IterativeWorkload {
  private boolean lastChanged = true;
  private long sent;

  @Override
  public String name() {
    return "components-tuned";
  }

  @Override
  public String summary() {
    return "the connected component of each vertex, by stars (1 job per iteration)";
  }

  @Override
  protected String variant() {
    return "tuned";
  }

  @Override
  protected Path prepare(JobSequence jobs, Path input) {
    return input;
  }

  @Override
  protected String jobName(long iteration) {
    return (isLarge(iteration) ? "large-star " : "small-star ") + (iteration + 1) / 2;
  }

  private static boolean isLarge(long iteration) {
    return iteration % 2 == 1;
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    StarJob.configure(job, isLarge(iteration), iteration == 1, input, output);
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    sent += value(counters, StarCounter.SENT);
    boolean changed = value(counters, StarCounter.CHANGED) > 0;
    boolean settled = !changed && !lastChanged;
    lastChanged = changed;
    return settled;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, StarCounter.PAIRS));
    report.result("components", value(last, StarCounter.ROOTS));
    report.result("sent", sent);
  }
}

package org.assay.jobs.components;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code components}: gives every vertex of a canonical graph the smallest vertex
 * number of its component. After the friend lists, iterations run until one updates no vertex, by
 * the global count of all tasks: L + 1 iterations, at least 2, where L is the largest distance in
 * hops of a vertex from the smallest of its component. See {@link IterationJob}.
 *
 * <p>With a number of iterations given it ends after these at the latest: the output then has for
 * each vertex the smallest number within so many hops.
 */
public final class Components extends IterativeWorkload {
  private static final String ITERATIONS = "iterations";

  private long last;

  @Override
  public String name() {
    return "components";
  }

  @Override
  public String summary() {
    return "the connected component of each vertex (1 job and 1 per iteration)";
  }

  @Override
  public String optionsUsage() {
    return super.optionsUsage()
        + "    --iterations N         end after N iterations, even if vertices still change\n";
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(MAX_ITERATIONS, ITERATIONS);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    super.configure(arguments, conf);
    last = arguments.number(ITERATIONS, Long.MAX_VALUE, 1);
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    IterationJob.configure(job, iteration == 1, input, output);
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    return iteration == last || value(counters, ComponentCounter.UPDATED) == 0;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, ComponentCounter.VERTICES));
    report.result("components", value(last, ComponentCounter.COMPONENTS));
  }
}

package org.assay.jobs.components;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.friendlists.FriendListsJob;

/**
 * The command {@code components}: gives every vertex of a canonical graph the smallest vertex
 * number of its component. After the friend lists, iterations run until one updates no vertex, by
 * the global count of all tasks: L + 1 iterations, at least 2, where L is the largest distance in
 * hops of a vertex from the smallest of its component. See {@link IterationJob}.
 */
public final class Components extends Workload {
  private static final String MAX_ITERATIONS = "max-iterations";
  private static final long DEFAULT_MAX_ITERATIONS = 1000;

  private long maxIterations = DEFAULT_MAX_ITERATIONS;

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
    return "    --max-iterations N     fail after N iterations (1000)\n";
  }

  @Override
  protected int expectedJobs() {
    return 0;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(MAX_ITERATIONS);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    maxIterations = arguments.number(MAX_ITERATIONS, DEFAULT_MAX_ITERATIONS, 1);
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path current = jobs.intermediate("friend-lists");
    Job listing = jobs.newJob(FriendListsJob.class);
    FriendListsJob.configure(listing, input, current);
    jobs.run("friend-lists", listing);
    for (long iteration = 1; iteration <= maxIterations; iteration++) {
      Path next = jobs.intermediate("iteration-" + iteration);
      Job job = jobs.newJob(IterationJob.class);
      IterationJob.configure(job, iteration == 1, current, next);
      Counters counters = jobs.run("iteration " + iteration, job);
      jobs.discard(current);
      current = next;
      if (counters.findCounter(ComponentCounter.UPDATED).getValue() == 0) {
        jobs.publish(current, output);
        report.result("iterations", iteration);
        report.result("vertices", value(counters, ComponentCounter.VERTICES));
        report.result("components", value(counters, ComponentCounter.COMPONENTS));
        return;
      }
    }
    throw new JobFailedException(
        "still updating vertices after "
            + maxIterations
            + " iterations; raise --"
            + MAX_ITERATIONS);
  }

  private static long value(Counters counters, ComponentCounter counter) {
    return counters.findCounter(counter).getValue();
  }
}

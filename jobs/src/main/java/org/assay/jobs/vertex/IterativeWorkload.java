package org.assay.jobs.vertex;

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
 * A workload that repeats a job, each time on what the former one wrote, until it has settled. What
 * an iteration read is deleted when it has ended; what the last one wrote becomes the output by a
 * rename. Whether it has settled is told by counters, which are global over all tasks.
 */
public abstract class IterativeWorkload extends Workload {
  /** The option that bounds the iterations, unless a workload has one of another name. */
  protected static final String MAX_ITERATIONS = "max-iterations";

  private static final long DEFAULT_MAX_ITERATIONS = 1000;

  private final String boundOption;
  private long bound;

  /** Fails after {@value #DEFAULT_MAX_ITERATIONS} iterations if no other bound is given. */
  protected IterativeWorkload() {
    this(MAX_ITERATIONS, DEFAULT_MAX_ITERATIONS);
  }

  /** Has a bound of its own under another name. */
  protected IterativeWorkload(String boundOption, long defaultBound) {
    this.boundOption = boundOption;
    this.bound = defaultBound;
  }

  @Override
  public String optionsUsage() {
    return "    --max-iterations N     fail after N iterations (1000)\n";
  }

  @Override
  protected final int expectedJobs() {
    return 0;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(boundOption);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    bound = arguments.number(boundOption, bound, 1);
  }

  @Override
  protected final void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    Path current = prepare(jobs, input);
    for (long iteration = 1; iteration <= bound; iteration++) {
      Path next = jobs.intermediate("iteration-" + iteration);
      Job job = jobs.newJob(getClass());
      configureIteration(job, iteration, current, next);
      Counters counters = jobs.run(jobName(iteration), job);
      if (!current.equals(input)) {
        jobs.discard(current);
      }
      current = next;
      if (hasSettled(iteration, counters) || (iteration == bound && isWholeAtBound())) {
        jobs.publish(current, output);
        report.result("iterations", iteration);
        tellResult(counters, report);
        return;
      }
    }
    throw new JobFailedException(
        "still updating vertices after " + bound + " iterations; raise --" + boundOption);
  }

  /**
   * Makes what the first iteration reads, by default friend lists.
   *
   * @return an intermediate, or the input itself
   */
  protected Path prepare(JobSequence jobs, Path input)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    Path lists = jobs.intermediate("friend-lists");
    Job listing = jobs.newJob(getClass());
    FriendListsJob.configure(listing, input, lists);
    configurePreparation(listing);
    preparationDone(jobs.run("friend-lists", listing), lists);
    return lists;
  }

  /** Changes the job that lists the friends before it is submitted. */
  protected void configurePreparation(Job listing) {}

  /** Looks at the friend lists before the first iteration. */
  protected void preparationDone(Counters counters, Path lists)
      throws IOException, UsageException {}

  /** The name of an iteration's job in the report. */
  protected String jobName(long iteration) {
    return "iteration " + iteration;
  }

  /** Sets up the job of an iteration, counted from 1. */
  protected abstract void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException;

  /** Whether this iteration, as counted by all its tasks, is the last; asked once of each. */
  protected abstract boolean hasSettled(long iteration, Counters counters);

  /** Whether the output is whole when the bound is reached; if not, the run has failed. */
  protected boolean isWholeAtBound() {
    return false;
  }

  /** Adds to the result what the last iteration counted. */
  protected abstract void tellResult(Counters last, RunReport report);

  /** The value of a counter. */
  protected static long value(Counters counters, Enum<?> counter) {
    return counters.findCounter(counter).getValue();
  }
}

package org.assay.jobs.wordfrequency;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * The commands {@code word-frequency}, which combines on the map side, and {@code
 * word-frequency-plain}, which ships each occurrence. See {@link CountJob}; the result is the same.
 */
public final class WordFrequency extends Workload {
  private final boolean combines;

  private WordFrequency(boolean combines) {
    this.combines = combines;
  }

  /** The command with a combiner. */
  public static WordFrequency combined() {
    return new WordFrequency(true);
  }

  /** The command without a combiner. */
  public static WordFrequency plain() {
    return new WordFrequency(false);
  }

  @Override
  public String name() {
    return combines ? "word-frequency" : "word-frequency-plain";
  }

  @Override
  protected String variant() {
    return combines ? "paper" : "plain";
  }

  @Override
  public String summary() {
    return "how often each word occurs, "
        + (combines ? "combined on the map side (1 job)" : "each occurrence shipped (1 job)");
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Job job = jobs.newJob(CountJob.class);
    CountJob.configure(job, combines, input, output);
    Counters counters = jobs.run("count", job);
    report.result("words", counters.findCounter(WordFrequencyCounter.WORDS).getValue());
    report.result(
        "distinct_words", counters.findCounter(WordFrequencyCounter.DISTINCT_WORDS).getValue());
  }
}

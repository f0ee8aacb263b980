package org.assay.jobs.driver;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;

/**
 * The jobs of one workload, run one after the other. Intermediate files are kept under {@code
 * <output>.work/}; whatever is left there goes when the sequence is closed.
 */
public final class JobSequence implements AutoCloseable {
  private static final int LONGEST_DIAGNOSTICS = 2000;

  /** Between looks at a job: what its end waits for until the next job is submitted. */
  private static final int LONGEST_POLL_MS = 200;

  private final Configuration conf;
  private final String workload;
  private final int expectedJobs;
  private final Path work;
  private final RunReport report;
  private int startedJobs;

  /**
   * Makes the directory for intermediate files.
   *
   * @param expectedJobs how many jobs there will be, 0 if that isn't known before
   */
  JobSequence(Configuration conf, String workload, int expectedJobs, Path work, RunReport report)
      throws IOException {
    this.conf = conf;
    this.workload = workload;
    this.expectedJobs = expectedJobs;
    this.work = work;
    this.report = report;
    files().mkdirs(work);
  }

  /** A path for an intermediate file or directory. */
  public Path intermediate(String name) {
    return new Path(work, name);
  }

  /** The bytes of an input's files, as their store has them; 0 if it doesn't tell. */
  public long bytes(Path input) throws IOException {
    FileSystem store = input.getFileSystem(conf);
    long bytes = 0;
    for (FileStatus match : store.globStatus(input)) {
      bytes += store.getContentSummary(match.getPath()).getLength();
    }
    return bytes;
  }

  /** Deletes an intermediate that no later job reads. */
  public void discard(Path intermediate) throws IOException {
    if (!files().delete(intermediate, true)) {
      throw new IOException("cannot delete " + intermediate);
    }
  }

  /**
   * Turns an intermediate directory of lines into the output, by a job if that is in another store.
   */
  public void publish(Path intermediate, Path output)
      throws IOException, InterruptedException, JobFailedException {
    if (!files().getUri().equals(output.getFileSystem(conf).getUri())) {
      Job job = newJob(Publishing.class);
      Publishing.configure(job, intermediate, output);
      run("publish", job);
      discard(intermediate);
      return;
    }
    if (!files().rename(intermediate, output)) {
      throw new IOException("cannot rename " + intermediate + " to " + output);
    }
  }

  /** A new job of this sequence with the settings of the run. */
  public Job newJob(Class<?> jobClass) throws IOException {
    Job job = Job.getInstance(conf);
    job.setJarByClass(jobClass);
    return job;
  }

  /**
   * Submits a job and waits for its end.
   *
   * @param name the job's name within the sequence, as in the report
   * @return its counters, never null
   * @throws JobFailedException if it could not be submitted, failed, or lost its counters
   */
  public Counters run(String name, Job job)
      throws JobFailedException, IOException, InterruptedException {
    startedJobs++;
    String place = expectedJobs > 0 ? startedJobs + "/" + expectedJobs : "" + startedJobs;
    String title = place + " " + name;
    job.setJobName("assay " + workload + " " + title);
    long startedMs = System.currentTimeMillis();
    try {
      job.submit();
    } catch (IOException | ClassNotFoundException | RuntimeException e) {
      throw new JobFailedException("job " + title + " could not be submitted: " + e, e);
    }
    report.started(name, job.getJobID().toString(), startedMs);
    say("job " + title + " " + job.getJobID() + " started, see " + job.getTrackingURL());
    try {
      waitForEnd(title, job);
    } catch (InterruptedException e) {
      job.killJob();
      throw e;
    }
    return finish(name, title, job);
  }

  private static void waitForEnd(String title, Job job) throws IOException, InterruptedException {
    int pollMs = Math.min(LONGEST_POLL_MS, Job.getProgressPollInterval(job.getConfiguration()));
    String shown = "";
    while (!job.isComplete()) {
      Thread.sleep(pollMs);
      String progress =
          "map " + tens(job.mapProgress()) + " % reduce " + tens(job.reduceProgress()) + " %";
      if (!progress.equals(shown)) {
        say("job " + title + " " + progress);
        shown = progress;
      }
    }
  }

  private static int tens(float progress) {
    return 10 * (int) (progress * 10);
  }

  private Counters finish(String name, String title, Job job)
      throws JobFailedException, IOException, InterruptedException {
    long finishedMs = System.currentTimeMillis();
    boolean succeeded = job.isSuccessful();
    Counters counters = null;
    try {
      counters =
          succeeded && DagHistory.isWritten(conf)
              ? DagHistory.counters(conf, job.getJobID())
              : job.getCounters();
    } catch (IOException e) {
      say("job " + title + " counters cannot be read: " + e.getMessage());
    }
    report.finished(finishedMs, succeeded, counters);
    if (!succeeded) {
      throw new JobFailedException(
          "job "
              + title
              + " "
              + job.getJobID()
              + " failed: "
              + diagnostics(job)
              + "; see "
              + job.getTrackingURL());
    }
    if (counters == null) {
      throw new JobFailedException(
          "job "
              + title
              + " "
              + job.getJobID()
              + " ("
              + name
              + ") ended without counters;"
              + " see "
              + job.getTrackingURL());
    }
    say("job " + title + " " + job.getJobID() + " finished");
    return counters;
  }

  /** What the job and its first failed task said, best effort: the job has failed in any case. */
  private static String diagnostics(Job job) throws InterruptedException {
    StringBuilder said = new StringBuilder();
    try {
      JobStatus status = job.getStatus();
      said.append(status.getFailureInfo());
      for (TaskCompletionEvent event : job.getTaskCompletionEvents(0, Integer.MAX_VALUE)) {
        if (event.getStatus() == TaskCompletionEvent.Status.FAILED
            || event.getStatus() == TaskCompletionEvent.Status.TIPFAILED) {
          String[] lines = job.getTaskDiagnostics(event.getTaskAttemptId());
          said.append(' ').append(String.join(" ", lines == null ? new String[0] : lines));
          break;
        }
      }
    } catch (IOException | RuntimeException e) {
      said.append(" (diagnostics cannot be read: ").append(e.getMessage()).append(')');
    }
    String all = said.toString().trim();
    return all.length() <= LONGEST_DIAGNOSTICS ? all : all.substring(0, LONGEST_DIAGNOSTICS);
  }

  /** Deletes the directory for intermediate files. */
  @Override
  public void close() throws IOException {
    files().delete(work, true);
  }

  private FileSystem files() throws IOException {
    return work.getFileSystem(conf);
  }

  /** Prints one line of progress for the person who waits. */
  static void say(String line) {
    System.out.println("assay: " + line);
  }
}

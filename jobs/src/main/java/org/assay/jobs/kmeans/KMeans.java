package org.assay.jobs.kmeans;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.InputColumns;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.graph.LineForm;

/**
 * The commands {@code k-means} and {@code k-means-tuned}: Lloyd's iteration from given centres, one
 * job per iteration, until no centre moves or a bound is reached. The output has the centres in
 * {@code centres}, and with {@code --assign} the points with their clusters in {@code clusters}.
 * With {@code --attributes} the iterations read only so many columns of the points' lines. See
 * {@link IterationJob} and {@link AssignmentJob}. Source: the study of storage subsystems, k-means.
 */
public final class KMeans extends Workload {
  private static final String CENTRES = "centres";
  private static final String ITERATIONS = "iterations";
  private static final String ASSIGN = "assign";
  private static final String NUMBERED = "numbered";
  private static final String ATTRIBUTES = "attributes";
  private static final long DEFAULT_ITERATIONS = 100;

  private final boolean tuned;
  private Path given;
  private long iterations;
  private boolean assign;
  private boolean numbered;
  private int attributes;
  private Centres start;

  private KMeans(boolean tuned) {
    this.tuned = tuned;
  }

  /** As published: all points go to one reducer. */
  public static KMeans paper() {
    return new KMeans(false);
  }

  /** With a combiner, and as many reducers as the settings say. */
  public static KMeans tuned() {
    return new KMeans(true);
  }

  @Override
  public String name() {
    return tuned ? "k-means-tuned" : "k-means";
  }

  @Override
  public String summary() {
    return tuned
        ? "k-means with a combiner and several reducers"
        : "points gathered around centres (1 job per iteration)";
  }

  @Override
  protected String variant() {
    return tuned ? "tuned" : "paper";
  }

  @Override
  public String optionsUsage() {
    return "    --centres FILE         the starting centres, a point per line (required)\n"
        + "    --numbered             their lines are like those of an output's centres\n"
        + "    --attributes N         only the first N numbers of a line are the point's (all)\n"
        + "    --iterations N         stop after N iterations (100)\n"
        + "    --assign               also write each point with its cluster\n";
  }

  @Override
  protected int expectedJobs() {
    return 0;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(CENTRES, ITERATIONS, ATTRIBUTES);
  }

  @Override
  protected Set<String> flagOptions() {
    return Set.of(ASSIGN, NUMBERED);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    String centres = arguments.get(CENTRES, "");
    if (centres.isEmpty()) {
      throw new UsageException("option --centres is missing; give a file with a point per line");
    }
    given = new Path(centres);
    iterations = arguments.number(ITERATIONS, DEFAULT_ITERATIONS, 1);
    assign = arguments.has(ASSIGN);
    numbered = arguments.has(NUMBERED);
    attributes = (int) Math.min(arguments.number(ATTRIBUTES, 0, 1), PointScanner.MOST_DIMENSIONS);
    PointScanner.attributes(conf, attributes);
  }

  @Override
  protected LineForm lineForm() {
    return start.form(PointScanner.of(getConf()));
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    start = Centres.readGiven(getConf(), given, numbered);
    Path centres = jobs.intermediate("centres-0");
    start.write(getConf(), new Path(centres, "start"));
    long iteration = 0;
    boolean moving = true;
    while (moving && iteration < iterations) {
      iteration++;
      Path next = jobs.intermediate("centres-" + iteration);
      Job job = jobs.newJob(IterationJob.class);
      IterationJob.configure(job, tuned, input, centres, next);
      if (attributes > 0) {
        InputColumns.use(job.getConfiguration(), attributes);
      }
      Counters counters = jobs.run("iteration " + iteration, job);
      jobs.discard(centres);
      centres = next;
      long converged = value(counters, KMeansCounter.CONVERGED);
      moving = converged < start.size();
      report.result("iterations", iteration);
      report.result("points", value(counters, KMeansCounter.POINTS));
      report.result("converged", converged);
      report.result("empty", value(counters, KMeansCounter.EMPTY));
    }
    output.getFileSystem(getConf()).mkdirs(output);
    Path last = new Path(output, "centres");
    jobs.publish(centres, last);
    if (assign) {
      Job job = jobs.newJob(AssignmentJob.class);
      AssignmentJob.configure(job, input, last, new Path(output, "clusters"));
      Counters counters = jobs.run("assignment", job);
      report.result("assigned", value(counters, KMeansCounter.POINTS));
    }
  }

  private static long value(Counters counters, KMeansCounter counter) {
    return counters.findCounter(counter).getValue();
  }
}

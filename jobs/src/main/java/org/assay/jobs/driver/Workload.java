package org.assay.jobs.driver;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.Tool;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.FirstBadLine;
import org.assay.jobs.graph.LineForm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One command: checks what was given, runs its jobs, reports, and tidies up.
 *
 * <p>Exit codes: {@value #OK} with the output whole, {@value #FAILED} if a job failed, {@value
 * #BAD_USAGE} if the arguments or the input can't be used. After a failure there is neither an
 * output nor an intermediate directory.
 */
public abstract class Workload extends Configured implements Tool {
  /** The output is whole. */
  public static final int OK = 0;

  /** A job failed, or the cluster could not run it. */
  public static final int FAILED = 1;

  /** The arguments or the input can't be used. */
  public static final int BAD_USAGE = 2;

  private static final Logger LOG = LoggerFactory.getLogger(Workload.class);

  /** The command's name. */
  public abstract String name();

  /** One line for the usage. */
  public abstract String summary();

  /** The options besides those of all workloads, as in the usage; empty if there are none. */
  public String optionsUsage() {
    return "";
  }

  /** Which version of the algorithm this is. */
  protected String variant() {
    return "paper";
  }

  /** How many jobs will run, 0 if that isn't known before. */
  protected abstract int expectedJobs();

  /** Names of the options that take a value. */
  protected Set<String> valuedOptions() {
    return Collections.emptySet();
  }

  /** Names of the options that take no value. */
  protected Set<String> flagOptions() {
    return Collections.emptySet();
  }

  /** Puts the options into the configuration of the jobs. */
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {}

  /** What the lines of the input must be, asked when a job has refused one: a canonical graph's. */
  protected LineForm lineForm() {
    return new EdgeLine()::read;
  }

  /**
   * Runs the jobs; the output must be whole at the end.
   *
   * @throws UsageException if a job found that the input can't be used
   */
  protected abstract void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException;

  @Override
  public final int run(String[] args) throws InterruptedException {
    RunReport report = null;
    Arguments arguments = null;
    try {
      arguments = Arguments.parse(args, valuedOptions(), flagOptions());
      report = new RunReport(name(), variant(), arguments, arguments.report());
      prepareAndRun(arguments, report);
      report.succeed();
      return OK;
    } catch (UsageException e) {
      return fail(report, BAD_USAGE, e.getMessage());
    } catch (JobFailedException e) {
      LOG.debug("{} failed", name(), e);
      String badLine = badLine(arguments, e);
      return badLine == null
          ? fail(report, FAILED, e.getMessage())
          : fail(report, BAD_USAGE, badLine);
    } catch (IOException | RuntimeException e) {
      LOG.error("{} failed", name(), e);
      return fail(report, FAILED, e.toString());
    }
  }

  private void prepareAndRun(Arguments arguments, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    Configuration conf = getConf();
    Path input = path(arguments.input());
    Path output = path(arguments.output());
    configure(arguments, conf);
    requireReducers(conf);
    Path work = InputOutput.work(conf, output);
    InputOutput.requireInput(conf, input);
    InputOutput.requireAbsent(conf, output, "output");
    InputOutput.requireAbsent(conf, work, "directory for intermediate files");
    Map<String, String> settings = Settings.effective(conf);
    LOG.info(
        "assay {} {} {} options {} settings {}",
        name(),
        input,
        output,
        arguments.given(),
        settings);
    report.settings(settings);
    report.write();
    boolean whole = false;
    try (JobSequence jobs = new JobSequence(conf, name(), expectedJobs(), work, report)) {
      runJobs(jobs, input, output, report);
      whole = true;
    } finally {
      if (!whole) {
        output.getFileSystem(conf).delete(output, true);
      }
    }
  }

  /** The line of the input that a job failed over, null if it failed over something else. */
  private String badLine(Arguments arguments, JobFailedException failure) {
    if (arguments == null || !FirstBadLine.isMeantBy(failure.getMessage())) {
      return null;
    }
    try {
      return FirstBadLine.in(getConf(), new Path(arguments.input()), lineForm());
    } catch (IOException | RuntimeException e) {
      LOG.debug("the input cannot be searched", e);
      return null;
    }
  }

  private static Path path(String given) throws UsageException {
    try {
      return new Path(given);
    } catch (IllegalArgumentException e) {
      throw new UsageException("path \"" + given + "\" cannot be used: " + e.getMessage());
    }
  }

  private static void requireReducers(Configuration conf) throws UsageException {
    String reducers = conf.getTrimmed(MRJobConfig.NUM_REDUCES, "1");
    if (!reducers.matches("[1-9][0-9]{0,8}")) {
      throw new UsageException(
          "property " + MRJobConfig.NUM_REDUCES + " must be at least 1, got " + reducers);
    }
  }

  private int fail(RunReport report, int exitCode, String error) {
    System.err.println("assay " + name() + ": " + error);
    try {
      if (report != null) {
        report.fail(error);
      }
    } catch (IOException e) {
      System.err.println("assay " + name() + ": the report cannot be written: " + e);
    }
    return exitCode;
  }
}

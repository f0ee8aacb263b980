package org.assay.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.util.ConfigUtil;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.InputOutput;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.graph.MalformedLineException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry point of {@code spark-submit assay-jobs-spark.jar}: picks the command, checks what was
 * given, and runs it.
 *
 * <p>Exit codes: {@value #OK} with the output whole, {@value #FAILED} if a job failed, {@value
 * #BAD_USAGE} if the arguments or the input can't be used. After a failure there is no output.
 */
public final class Main {
  /** The output is whole. */
  public static final int OK = 0;

  /** A job of the application failed, or the cluster could not run it. */
  public static final int FAILED = 1;

  /** The arguments or the input can't be used. */
  public static final int BAD_USAGE = 2;

  /** Spark's property for the number of partitions that a shuffle makes. */
  static final String PARALLELISM = "spark.default.parallelism";

  private static final String JOB_ABORTED = "Job aborted.";
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);
  private static final String HADOOP = "spark.hadoop.";
  private static final Set<String> NONE = Set.of();

  private static final List<Command> COMMANDS =
      List.of(
          new Command("word-count-rdd", "how often each word occurs", NONE, WordCount::rdd),
          new Command("word-count-dataframe", "the same in Spark SQL", NONE, WordCount::dataFrame),
          new Command(
              "word-frequency-rdd",
              "how often each word of natural text occurs",
              NONE,
              WordFrequency::rdd),
          new Command(
              "word-frequency-dataframe", "the same in Spark SQL", NONE, WordFrequency::dataFrame),
          new Command(
              "grep-rdd", "how often each text occurs that matches", Grep.OPTIONS, Grep::rdd),
          new Command("grep-dataframe", "the same in Spark SQL", Grep.OPTIONS, Grep::dataFrame),
          new Command("sort-rdd", "pairs of bytes in SequenceFiles, by key", NONE, Sort::rdd),
          new Command("terasort-rdd", "TeraGen's records in a total order", NONE, TeraSort::rdd),
          new Command(
              "page-rank-rdd", "the ranks of a directed graph", PageRank.OPTIONS, PageRank::rdd),
          new Command(
              "k-means-rdd", "points around centres", KMeans.OPTIONS, KMeans.FLAGS, KMeans::rdd),
          new Command(
              "components-rdd",
              "connected components by large-star and small-star",
              Components.OPTIONS,
              Components::rdd),
          new Command(
              "components-graphx",
              "connected components of GraphX",
              Components.OPTIONS,
              GraphX::components),
          new Command(
              "triangles-rdd",
              "triangles by intersecting lists in degree order",
              NONE,
              Triangles::rdd),
          new Command("triangles-graphx", "triangles of GraphX", NONE, GraphX::triangles),
          new Command(
              "mutual-friends-rdd",
              "for each edge the vertices connected to both its ends",
              NONE,
              MutualFriends::rdd));

  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(run(new SparkConf(), args));
  }

  /** Runs a command with these settings of Spark and returns its exit code. */
  public static int run(SparkConf conf, String... args) {
    List<String> given = Arrays.asList(args);
    if (given.isEmpty() || given.contains("--help") || given.contains("-h")) {
      System.out.print(usage());
      return OK;
    }
    for (Command command : COMMANDS) {
      if (command.name().equals(args[0])) {
        return run(conf, command, new ArrayList<>(given.subList(1, given.size())));
      }
    }
    System.err.println("assay: unknown command " + args[0] + "; --help lists the commands");
    return BAD_USAGE;
  }

  private static int run(SparkConf conf, Command command, List<String> given) {
    RunReport report = null;
    try {
      configure(conf, command, takeProperties(given));
      Arguments arguments =
          Arguments.parse(given.toArray(new String[0]), command.options(), command.flags());
      report = new RunReport(command.name(), command.variant(), arguments, arguments.report());
      try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
        run(new Run(spark, arguments, report), command, report);
      }
      report.succeed();
      return OK;
    } catch (UsageException e) {
      return fail(command, report, BAD_USAGE, e.getMessage());
    } catch (Exception e) {
      // Scala's methods throw checked exceptions that they do not declare, such as SparkException.
      LOG.error("{} failed", command.name(), e);
      String badLine = badLine(e);
      return badLine == null
          ? fail(command, report, FAILED, reason(e))
          : fail(command, report, BAD_USAGE, badLine);
    }
  }

  /** Takes the properties, {@code -Dname=value} or apart, out of a command line. */
  private static Map<String, String> takeProperties(List<String> line) {
    Map<String, String> properties = new TreeMap<>();
    int at = 0;
    while (at < line.size()) {
      if (!line.get(at).startsWith("-D")) {
        at++;
        continue;
      }
      String given = line.remove(at).substring(2);
      given = given.isEmpty() && at < line.size() ? line.remove(at) : given;
      int equals = given.indexOf('=');
      properties.put(
          equals < 0 ? given : given.substring(0, equals),
          equals < 0 ? "true" : given.substring(equals + 1));
    }
    return properties;
  }

  private static void configure(SparkConf conf, Command command, Map<String, String> properties) {
    // Makes all configurations read mapred-site.xml, too, which else the first job would do.
    ConfigUtil.loadResources();
    conf.setIfMissing("spark.app.name", "assay " + command.name());
    properties.forEach(
        (name, value) -> conf.set(name.startsWith("spark.") ? name : HADOOP + name, value));
    // Hadoop's word for it; only where it was given, as Hadoop has a default of its own.
    String partitions = conf.get(HADOOP + MRJobConfig.NUM_REDUCES, "");
    if (!partitions.isEmpty()) {
      conf.setIfMissing(PARALLELISM, partitions);
      conf.setIfMissing("spark.sql.shuffle.partitions", partitions);
    }
  }

  private static void run(Run run, Command command, RunReport report)
      throws IOException, UsageException {
    InputOutput.requireInput(run.hadoop(), new Path(run.input()));
    InputOutput.requireAbsent(run.hadoop(), new Path(run.output()), "output");
    SparkConf conf = run.context().getConf();
    report.settings(Settings.effective(conf, run.hadoop()));
    report.started(command.name(), conf.getAppId(), System.currentTimeMillis());
    run.context().sc().addSparkListener(new Progress());
    Progress.say("job " + command.name() + " " + conf.getAppId() + " started");
    boolean whole = false;
    try {
      command.run(run);
      whole = true;
    } finally {
      report.finished(System.currentTimeMillis(), whole, null);
      if (!whole) {
        run.deleteOutput();
      }
    }
    Progress.say("job " + command.name() + " " + conf.getAppId() + " finished");
  }

  /** What a task said of a line that it refused; null if this is about something else. */
  private static String badLine(Throwable failure) {
    String mark = MalformedLineException.class.getName() + ": ";
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String said = String.valueOf(cause);
      int at = said.indexOf(mark);
      if (at >= 0) {
        return "the input cannot be used: "
            + said.substring(at + mark.length()).lines().findFirst().orElse("");
      }
    }
    return null;
  }

  /**
   * Why a command failed, in one line: what Spark says and what it comes from, without the stack
   * traces that Spark adds.
   */
  private static String reason(Throwable failure) {
    // A job that writes files says only that it was aborted.
    boolean says = failure.getCause() == null || !JOB_ABORTED.equals(failure.getMessage());
    String said = firstLine(says ? failure : failure.getCause());
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return said.contains(firstLine(root)) ? said : said + "; " + firstLine(root);
  }

  private static String firstLine(Throwable failure) {
    return failure.toString().lines().findFirst().orElse("");
  }

  private static int fail(Command command, RunReport report, int exitCode, String error) {
    System.err.println("assay " + command.name() + ": " + error);
    try {
      if (report != null) {
        report.fail(error);
      }
    } catch (IOException e) {
      System.err.println("assay " + command.name() + ": the report cannot be written: " + e);
    }
    return exitCode;
  }

  private static String usage() {
    StringBuilder usage = new StringBuilder();
    usage.append(
        "Usage: spark-submit assay-jobs-spark.jar <command> [-D property=value ...] <input>"
            + " <output> [options]\n\nCommands:\n");
    for (Command command : COMMANDS) {
      usage.append(String.format(Locale.ROOT, "  %-24s %s", command.name(), command.summary()));
      Stream.concat(command.options().stream(), command.flags().stream())
          .sorted()
          .forEach(name -> usage.append(" [--" + name + "]"));
      usage.append('\n');
    }
    return usage
        .append("\nAll take --report FILE: a JSON report on the local disk.\n\nExample:\n")
        .append("  spark-submit assay-jobs-spark.jar word-count-rdd -D mapreduce.job.reduces=4")
        .append(" books counts --report counts.json\n")
        .append("\nExit codes: 0 done, 1 a job failed, 2 the arguments or the input are wrong.\n")
        .toString();
  }
}

package org.assay.jobs.normalise;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.graph.LineForm;

/**
 * The command {@code normalise}: the text of a graph in the one form that the other jobs read.
 *
 * <p>Reads lines of two vertex numbers, apart by any run of tabs, spaces, commas and semicolons;
 * directed or not, in any order, repeated, with self loops; plain or compressed as the file's name
 * says. Writes {@code u<TAB>v} with u smaller than v per edge, each once, and {@code u} alone for a
 * vertex that has no edge left.
 */
public final class Normalise extends Workload {
  @Override
  public String name() {
    return "normalise";
  }

  @Override
  public String summary() {
    return "the text of a graph in the form that the other commands read (1 job)";
  }

  @Override
  public String optionsUsage() {
    return "    --skip-bytes N         ignore lines that start before this offset of each file\n"
        + "    --comment CHARS        skip lines that start with one of these (#%)\n"
        + "    --extra-columns allow  ignore what follows the two vertices\n"
        + "    --lone-vertices allow  take a line of one number as a vertex without an edge\n";
  }

  @Override
  protected String variant() {
    return "plain";
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of("skip-bytes", "comment", "extra-columns", "lone-vertices");
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    conf.setLong(GraphTextMapper.SKIP_BYTES, arguments.number("skip-bytes", 0, 0));
    conf.set(GraphTextMapper.COMMENT, arguments.get("comment", "#%"));
    conf.setBoolean(GraphTextMapper.EXTRA_COLUMNS, arguments.allows("extra-columns"));
    conf.setBoolean(GraphTextMapper.LONE_VERTICES, arguments.allows("lone-vertices"));
  }

  /** Any: which line can't be read depends on the options, and the task that met it has said so. */
  @Override
  protected LineForm lineForm() {
    return line -> {};
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    Path complaints = jobs.intermediate("complaints");
    Job job = jobs.newJob(NormaliseJob.class);
    NormaliseJob.configure(job, input, output);
    job.getConfiguration().set(GraphTextMapper.COMPLAINTS, complaints.toString());
    try {
      Counters counters = jobs.run("normalise", job);
      for (NormaliseCounter counter : NormaliseCounter.values()) {
        report.result(
            counter.name().toLowerCase(Locale.ROOT), counters.findCounter(counter).getValue());
      }
    } catch (JobFailedException e) {
      String complaint = firstComplaint(job.getConfiguration(), complaints);
      if (complaint == null) {
        throw e;
      }
      throw new UsageException(complaint);
    }
  }

  /** The sentence of a task about a line that it could not read, null if none left one. */
  private static String firstComplaint(Configuration conf, Path complaints) throws IOException {
    FileSystem files = complaints.getFileSystem(conf);
    if (!files.exists(complaints)) {
      return null;
    }
    FileStatus[] found = files.listStatus(complaints);
    if (found.length == 0) {
      return null;
    }
    Arrays.sort(found);
    try (InputStream in = files.open(found[0].getPath())) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

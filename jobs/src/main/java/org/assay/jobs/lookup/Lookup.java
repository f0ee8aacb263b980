package org.assay.jobs.lookup;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.InputRows;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.graph.LineForm;
import org.assay.jobs.graph.MalformedLineException;

/** The command {@code lookup}. See {@link LookupJob}. */
public final class Lookup extends Workload {
  private static final String ROWS = "rows";
  private static final String AT_ONCE = "at-once";
  private static final int USUALLY_AT_ONCE = 500;

  private Path given;

  @Override
  public String name() {
    return "lookup";
  }

  @Override
  protected String variant() {
    return "listed";
  }

  @Override
  public String summary() {
    return "values of some rows of many, added up by group (1 job)";
  }

  @Override
  public String optionsUsage() {
    return "    --rows FILE            the rows' numbers, one or a range per line (required)\n"
        + "    --at-once N            get N single rows of a table by one call (500)\n";
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(ROWS, AT_ONCE);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    String rows = arguments.get(ROWS, "");
    if (rows.isEmpty()) {
      throw new UsageException("option --rows is missing; give a file with a row per line");
    }
    given = new Path(rows);
    long atOnce = arguments.number(AT_ONCE, USUALLY_AT_ONCE, 1);
    conf.setInt(InputRows.AT_ONCE, (int) Math.min(atOnce, Integer.MAX_VALUE));
  }

  @Override
  protected LineForm lineForm() {
    RowLine row = new RowLine();
    return line -> {
      row.row(line);
      row.next();
      row.next();
    };
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    long asked = asked();
    Path list = jobs.intermediate("rows");
    FileSystem from = given.getFileSystem(getConf());
    FileUtil.copy(from, given, list.getFileSystem(getConf()), list, false, getConf());
    Job job = jobs.newJob(LookupJob.class);
    LookupJob.configure(job, input, list, output);
    Counters counters = jobs.run("lookup", job);
    long found = value(counters, LookupCounter.ROWS_FOUND);
    if (found != asked) {
      throw new UsageException(
          "input "
              + input
              + " has "
              + found
              + " of the "
              + asked
              + " rows of "
              + given
              + "; ask for rows that it has once each");
    }
    report.result("lines_read", value(counters, LookupCounter.LINES_READ));
    report.result("rows_found", found);
    report.result("bytes_found", value(counters, LookupCounter.BYTES_FOUND));
  }

  /** How many rows are asked for, before any job looks for them. */
  private long asked() throws IOException, UsageException {
    if (!given.getFileSystem(getConf()).exists(given)) {
      throw new UsageException(
          "rows " + given + " does not exist; give a file with a row per line");
    }
    try {
      return AskedRows.read(getConf(), given).count();
    } catch (MalformedLineException e) {
      throw new UsageException("rows " + given + " cannot be used: " + e.getMessage());
    }
  }

  private static long value(Counters counters, LookupCounter counter) {
    return counters.findCounter(counter).getValue();
  }
}

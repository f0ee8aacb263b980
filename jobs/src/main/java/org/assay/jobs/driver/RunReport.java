package org.assay.jobs.driver;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;

/**
 * The JSON report of one run, schema 1. The file is replaced by a rename after each change, so
 * whoever reads it finds a whole report, also after the driver was killed. {@code succeeded} is
 * null while the run or the job goes on. Times are milliseconds since 1970 by the driver's clock,
 * around submission and the moment at which the driver saw the end.
 */
public final class RunReport {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;
  private final ObjectNode root = JSON.createObjectNode();
  private final ArrayNode jobs;
  private final ObjectNode result = JSON.createObjectNode();

  /** A report that goes to {@code file}, or nowhere if that is null. */
  public RunReport(String workload, String variant, Arguments arguments, Path file) {
    this.file = file;
    root.put("schema", 1);
    root.put("workload", workload);
    root.put("variant", variant);
    root.putNull("succeeded");
    root.putNull("error");
    root.put("input", arguments.input());
    root.put("output", arguments.output());
    arguments.given().forEach(root.putObject("options")::put);
    root.putObject("settings");
    jobs = root.putArray("jobs");
    root.putNull("result");
  }

  /** Sets the effective Hadoop properties. */
  public void settings(Map<String, String> settings) {
    settings.forEach(root.putObject("settings")::put);
  }

  /** Adds a job that was submitted. */
  public void started(String name, String id, long startedMs) throws IOException {
    ObjectNode job = jobs.addObject();
    job.put("name", name);
    job.put("id", id);
    job.put("started_ms", startedMs);
    job.putNull("finished_ms");
    job.putNull("succeeded");
    job.putObject("counters");
    write();
  }

  /** Completes the job that was added last; {@code counters} is null if there are none. */
  public void finished(long finishedMs, boolean succeeded, Counters counters) throws IOException {
    ObjectNode job = (ObjectNode) jobs.get(jobs.size() - 1);
    job.put("finished_ms", finishedMs);
    job.put("succeeded", succeeded);
    ObjectNode groups = job.putObject("counters");
    if (counters != null) {
      for (CounterGroup group : counters) {
        ObjectNode values = groups.putObject(group.getName());
        for (Counter counter : group) {
          values.put(counter.getName(), counter.getValue());
        }
      }
    }
    write();
  }

  /** Adds a number to the result, which appears in the report when the run has succeeded. */
  public void result(String name, long value) {
    result.put(name, value);
  }

  /** Adds a number that isn't whole to the result. */
  public void result(String name, double value) {
    result.put(name, value);
  }

  /** Ends the report of a run whose output is whole. */
  public void succeed() throws IOException {
    root.put("succeeded", true);
    root.set("result", result);
    write();
  }

  /** Ends the report of a run that has no output. */
  public void fail(String error) throws IOException {
    root.put("succeeded", false);
    root.put("error", error);
    write();
  }

  /** Writes the report as it stands. */
  void write() throws IOException {
    if (file == null) {
      return;
    }
    Path whole = file.toAbsolutePath();
    Path partial = whole.resolveSibling(whole.getFileName() + ".partial");
    Files.write(partial, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(root));
    Files.move(partial, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}

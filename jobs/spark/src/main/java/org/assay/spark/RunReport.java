package org.assay.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * The JSON report of one run, schema 1 of the MapReduce jobs' reports: the application is its only
 * job. The file is replaced by a rename after each change, so whoever reads it finds a whole
 * report, also after the driver was killed. {@code succeeded} is null while the run goes on. Times
 * are milliseconds since 1970 by the driver's clock.
 */
final class RunReport {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;
  private final ObjectNode root = JSON.createObjectNode();
  private final ArrayNode jobs;
  private final ObjectNode result = JSON.createObjectNode();

  /** A report that goes to {@code file}, or nowhere if that is null. */
  RunReport(String command, Arguments arguments, Path file) {
    this.file = file;
    root.put("schema", 1);
    root.put("workload", command);
    root.putNull("succeeded");
    root.putNull("error");
    root.put("input", arguments.input());
    root.put("output", arguments.output());
    arguments.given().forEach(root.putObject("options")::put);
    root.putObject("settings");
    jobs = root.putArray("jobs");
    root.putNull("result");
  }

  /** Adds the application, which runs, and its settings. */
  void started(String name, String application, Map<String, String> settings) throws IOException {
    settings.forEach(root.putObject("settings")::put);
    ObjectNode job = jobs.addObject();
    job.put("name", name);
    job.put("id", application);
    job.put("started_ms", System.currentTimeMillis());
    job.putNull("finished_ms");
    job.putNull("succeeded");
    job.putObject("counters");
    write();
  }

  /** Adds a number to the result, which appears in the report when the run has succeeded. */
  void result(String name, long value) {
    result.put(name, value);
  }

  /** Adds a number that isn't whole to the result. */
  void result(String name, double value) {
    result.put(name, value);
  }

  /** Ends the report of a run whose output is whole. */
  void succeed() throws IOException {
    end(true);
    root.set("result", result);
    write();
  }

  /** Ends the report of a run that has no output. */
  void fail(String error) throws IOException {
    end(false);
    root.put("error", error);
    write();
  }

  private void end(boolean succeeded) {
    root.put("succeeded", succeeded);
    if (!jobs.isEmpty()) {
      ObjectNode job = (ObjectNode) jobs.get(0);
      job.put("finished_ms", System.currentTimeMillis());
      job.put("succeeded", succeeded);
    }
  }

  private void write() throws IOException {
    if (file == null) {
      return;
    }
    Path partial = file.resolveSibling(file.getFileName() + ".partial");
    Files.write(partial, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(root));
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}

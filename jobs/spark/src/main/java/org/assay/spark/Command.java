package org.assay.spark;

import java.io.IOException;
import java.util.Set;
import org.assay.jobs.driver.UsageException;

/** A workload in one of its variants, called {@code WORKLOAD-VARIANT}. */
final class Command {
  private final String name;
  private final String summary;
  private final Set<String> options;
  private final Set<String> flags;
  private final Body body;

  /**
   * A command.
   *
   * @param options the names of the options with a value that it has beside {@code --report}
   * @param flags the names of the options that take none
   */
  Command(String name, String summary, Set<String> options, Set<String> flags, Body body) {
    this.name = name;
    this.summary = summary;
    this.options = options;
    this.flags = flags;
    this.body = body;
  }

  /** A command without flags. */
  Command(String name, String summary, Set<String> options, Body body) {
    this(name, summary, options, Set.of(), body);
  }

  String name() {
    return name;
  }

  /** What of the name follows the workload's. */
  String variant() {
    return name.substring(name.lastIndexOf('-') + 1);
  }

  String summary() {
    return summary;
  }

  Set<String> options() {
    return options;
  }

  Set<String> flags() {
    return flags;
  }

  /** Reads the input, writes the whole output, and adds what it counted to the report. */
  void run(Run run) throws IOException, UsageException {
    body.run(run);
  }

  /** What a command does. */
  @FunctionalInterface
  interface Body {
    void run(Run run) throws IOException, UsageException;
  }
}

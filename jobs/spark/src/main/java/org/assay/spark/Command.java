package org.assay.spark;

import java.io.IOException;
import java.util.Set;

/** A workload in one of its variants, called {@code WORKLOAD-VARIANT}. */
final class Command {
  private final String name;
  private final String summary;
  private final Set<String> options;
  private final Body body;

  /**
   * A command.
   *
   * @param options the names of the options that it has beside {@code --report}
   */
  Command(String name, String summary, Set<String> options, Body body) {
    this.name = name;
    this.summary = summary;
    this.options = options;
    this.body = body;
  }

  String name() {
    return name;
  }

  String summary() {
    return summary;
  }

  Set<String> options() {
    return options;
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

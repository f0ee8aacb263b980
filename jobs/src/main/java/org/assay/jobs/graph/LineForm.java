package org.assay.jobs.graph;

import org.apache.hadoop.io.Text;

/** The form that each line of a command's input has. */
@FunctionalInterface
public interface LineForm {
  /**
   * Reads a line for nothing but its mistakes.
   *
   * @throws MalformedLineException if the line isn't of this form
   */
  void check(Text line) throws MalformedLineException;
}

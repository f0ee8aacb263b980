package org.assay.jobs.linesort;

/** What the sorting job counts. */
public enum LineSortCounter {
  /** Lines of the input. */
  LINES_READ,
  /** Lines of the output. */
  LINES_WRITTEN
}

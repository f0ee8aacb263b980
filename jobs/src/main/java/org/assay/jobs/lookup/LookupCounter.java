package org.assay.jobs.lookup;

/** What the lookup counts. */
public enum LookupCounter {
  /** Lines that the maps were given: all of the input, or those that were asked for. */
  LINES_READ,
  /** Lines that were asked for. */
  ROWS_FOUND,
  /** The bytes of these, without their ends. */
  BYTES_FOUND
}

package org.assay.jobs.driver;

import org.apache.hadoop.conf.Configuration;

/**
 * Tells input formats which columns of its lines a job reads. Columns stand apart by commas, tabs
 * or spaces, any run of which counts once; they are read from the left.
 *
 * <p>A format may leave out the columns beyond these, or give the whole line: a job that says this
 * reads both alike.
 */
public final class InputColumns {
  /** The number of columns that a job reads; all if it is not set. */
  public static final String PROPERTY = "assay.input.columns";

  private InputColumns() {}

  /** Says that a job reads so many columns of each line. */
  public static void use(Configuration conf, int columns) {
    conf.setInt(PROPERTY, columns);
  }
}

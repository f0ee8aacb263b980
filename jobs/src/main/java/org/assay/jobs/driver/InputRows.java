package org.assay.jobs.driver;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Tells input formats which lines a job reads, by their numbers: how many lines the input's store
 * had taken before each. A list has a line {@code number} for each of them, or {@code first-last}
 * for those that follow each other, in the order in which the job asks for them.
 *
 * <p>A format may leave out the other lines, or give all: a job that says this knows its lines by
 * what they hold.
 */
public final class InputRows {
  /** The path of the list; a job reads all lines if it is not set. */
  public static final String PROPERTY = "assay.input.rows";

  /** How many single lines a format asks its store for at once; as it likes if it is not set. */
  public static final String AT_ONCE = "assay.input.rows.at-once";

  private InputRows() {}

  /** Says that a job reads the lines of this list. */
  public static void use(Configuration conf, Path list) {
    conf.set(PROPERTY, list.toString());
  }

  /** The list of a job that has said it. */
  public static Path list(Configuration conf) {
    return new Path(conf.get(PROPERTY));
  }
}

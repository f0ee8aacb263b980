package org.assay.rows;

import org.apache.hadoop.conf.Configuration;

/**
 * The columns of a line: what stands apart by commas, tabs or spaces, any run of which counts once.
 */
public final class LineColumns {
  /**
   * How many columns of a line, from the left, a job says that it reads; all if it says nothing.
   */
  static final String READ_BY_JOB = "assay.input.columns";

  private LineColumns() {}

  /** Whether a job reads the rest of lines that have their first columns apart. */
  static boolean needRest(Configuration job, int apart) {
    int read = job.getInt(READ_BY_JOB, 0);
    return apart > 0 && (read < 1 || read > apart);
  }

  /** The length of a line's first columns, with what separates them and without what follows. */
  public static int length(byte[] bytes, int offset, int length, int columns) {
    int at = offset;
    int end = offset + length;
    for (int column = 0; column < columns && at < end; column++) {
      while (at < end && isSeparator(bytes[at])) {
        at++;
      }
      while (at < end && !isSeparator(bytes[at])) {
        at++;
      }
    }
    return at - offset;
  }

  private static boolean isSeparator(byte character) {
    return character == ',' || character == '\t' || character == ' ' || character == '\r';
  }
}

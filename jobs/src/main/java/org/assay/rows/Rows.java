package org.assay.rows;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.io.Text;

/** Rows in turn, as their lines. */
public interface Rows extends Closeable {
  /**
   * Goes to the next row; false where there is none.
   *
   * @param line becomes the row's line, without its end
   * @throws IOException also for a row that is not whole, or not there though it was asked for
   */
  boolean next(Text line) throws IOException;
}

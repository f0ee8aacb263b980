package org.assay.rows;

import java.io.Closeable;
import java.io.IOException;

/** Takes lines for a table. They are there when it has been closed without an exception. */
public interface LineWriter extends Closeable {
  /** Takes a line without its end; the array is the caller's again afterwards. */
  void write(byte[] bytes, int offset, int length) throws IOException;
}

package org.assay.rows;

import java.io.IOException;
import java.util.List;

/** Gives rows; {@code rest} tells whether with what follows the columns that are apart. */
public interface RowSource {
  /** Rows from a key up to but not with another; empty ones are the table's ends. */
  Rows scan(String table, byte[] start, byte[] stop, boolean rest) throws IOException;

  /** Rows alone, all of which must be there, in the order of their keys in the list. */
  Rows get(String table, List<byte[]> keys, boolean rest) throws IOException;
}

package org.assay.rows;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/**
 * A store of rows, as Hadoop's formats and its file system reach it.
 *
 * @param <R> a region, as the store knows it
 */
public interface RowStore<R extends Region> {
  /** By which a path names a table of this store: {@code scheme:/runs/input}. */
  String scheme();

  /** A connection, which whoever asks closes. */
  RowTables<R> connect(Configuration conf) throws IOException;

  /** What the tasks of a process read by: they share a connection, which nobody closes. */
  RowSource shared(Configuration conf) throws IOException;

  /** Rows of a part that tasks read without servers; see {@link RowTables#files}. */
  default Rows files(Configuration conf, byte[] part, boolean rest) throws IOException {
    throw new UnsupportedOperationException("servers alone have the rows");
  }
}

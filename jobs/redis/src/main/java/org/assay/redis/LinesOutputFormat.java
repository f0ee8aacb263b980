package org.assay.redis;

import org.assay.rows.RowOutputFormat;

/** See {@link RowOutputFormat}: tables are those of Redis. */
public final class LinesOutputFormat<K, V> extends RowOutputFormat<K, V> {
  /** As Hadoop makes it. */
  public LinesOutputFormat() {
    super(Tables.STORE);
  }
}

package org.assay.cassandra;

import org.assay.rows.RowFileSystem;

/** See {@link RowFileSystem}: tables are those of Cassandra, and regions ranges of tokens. */
public final class TableFileSystem extends RowFileSystem<Tables.Range> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(CassandraStore.INSTANCE);
  }
}

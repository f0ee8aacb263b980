package org.assay.cassandra;

import org.assay.rows.RowFileSystem;

/** See {@link RowFileSystem}: tables are those of Cassandra, a file has a writer's lines. */
public final class TableFileSystem extends RowFileSystem<Tables.Written> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(Tables.STORE);
  }
}

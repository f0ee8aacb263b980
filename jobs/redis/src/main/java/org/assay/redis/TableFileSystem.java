package org.assay.redis;

import org.assay.rows.RowFileSystem;
import org.assay.rows.RunRegion;

/** See {@link RowFileSystem}: tables are those of Redis, a file has the lines of a writer. */
public final class TableFileSystem extends RowFileSystem<RunRegion> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(Tables.STORE);
  }
}

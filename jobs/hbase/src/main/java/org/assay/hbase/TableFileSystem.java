package org.assay.hbase;

import org.assay.rows.RowFileSystem;

/** See {@link RowFileSystem}: tables are those of HBase, and their bytes those of HFiles. */
public final class TableFileSystem extends RowFileSystem<Tables.Place> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(HbaseStore.INSTANCE);
  }
}

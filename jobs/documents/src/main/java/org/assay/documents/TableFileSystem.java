package org.assay.documents;

import org.assay.rows.RowFileSystem;

/** See {@link RowFileSystem}: tables are those of documents, a file has a collection. */
public final class TableFileSystem extends RowFileSystem<Tables.Collected> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(Tables.STORE);
  }
}

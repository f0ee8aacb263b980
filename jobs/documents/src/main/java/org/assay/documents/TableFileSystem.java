package org.assay.documents;

import org.assay.rows.RowFileSystem;
import org.assay.rows.RunRegion;

/** See {@link RowFileSystem}: tables are those of documents, a file has a collection. */
public final class TableFileSystem extends RowFileSystem<RunRegion> {
  /** As Hadoop makes it. */
  public TableFileSystem() {
    super(Tables.STORE);
  }
}

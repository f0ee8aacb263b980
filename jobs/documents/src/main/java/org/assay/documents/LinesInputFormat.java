package org.assay.documents;

import org.assay.rows.RowInputFormat;

/** See {@link RowInputFormat}: tables are those of documents, cut between their collections. */
public final class LinesInputFormat extends RowInputFormat {
  /** As Hadoop makes it. */
  public LinesInputFormat() {
    super(Tables.STORE);
  }
}

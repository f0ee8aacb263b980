package org.assay.cassandra;

import org.assay.rows.RowInputFormat;

/** See {@link RowInputFormat}: tables are those of Cassandra, cut into ranges of tokens. */
public final class LinesInputFormat extends RowInputFormat {
  /** As Hadoop makes it. */
  public LinesInputFormat() {
    super(Tables.STORE);
  }
}

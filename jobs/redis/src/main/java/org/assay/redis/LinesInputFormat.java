package org.assay.redis;

import org.assay.rows.RowInputFormat;

/** See {@link RowInputFormat}: tables are those of Redis, cut between any two lines of a writer. */
public final class LinesInputFormat extends RowInputFormat {
  /** As Hadoop makes it. */
  public LinesInputFormat() {
    super(Tables.STORE);
  }
}

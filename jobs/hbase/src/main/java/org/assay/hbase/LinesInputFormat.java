package org.assay.hbase;

import org.assay.rows.RowInputFormat;

/** See {@link RowInputFormat}: tables are those of HBase. */
public final class LinesInputFormat extends RowInputFormat {
  /** As Hadoop makes it. */
  public LinesInputFormat() {
    super(HbaseStore.INSTANCE);
  }
}

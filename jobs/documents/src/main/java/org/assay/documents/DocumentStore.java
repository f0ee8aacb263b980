package org.assay.documents;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.assay.rows.RowSource;
import org.assay.rows.RowStore;
import org.assay.rows.RowTables;

/** Documents as a store of rows. */
final class DocumentStore implements RowStore<Tables.Collected> {
  static final DocumentStore INSTANCE = new DocumentStore();

  private RowSource shared;

  private DocumentStore() {}

  @Override
  public String scheme() {
    return "documents";
  }

  @Override
  public RowTables<Tables.Collected> connect(Configuration conf) throws IOException {
    return new Tables(conf);
  }

  /** All tasks of a process are of one cluster. */
  @Override
  public synchronized RowSource shared(Configuration conf) throws IOException {
    if (shared == null) {
      shared = new Tables(conf);
    }
    return shared;
  }
}

package org.assay.cassandra;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.assay.rows.RowSource;
import org.assay.rows.RowStore;
import org.assay.rows.RowTables;

/** Cassandra as a store of rows. */
final class CassandraStore implements RowStore<Tables.Written> {
  static final CassandraStore INSTANCE = new CassandraStore();

  private RowSource shared;

  private CassandraStore() {}

  @Override
  public String scheme() {
    return "cassandra";
  }

  @Override
  public RowTables<Tables.Written> connect(Configuration conf) throws IOException {
    return new Tables(conf);
  }

  /** All tasks of a process are of one cluster; to connect takes about a second. */
  @Override
  public synchronized RowSource shared(Configuration conf) throws IOException {
    if (shared == null) {
      shared = new Tables(conf);
    }
    return shared;
  }
}

package org.assay.rows;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/**
 * A store whose tasks share the connection that their process has made first: all are of one
 * cluster.
 *
 * @param <R> a region, as the store knows it
 */
public final class OneClusterStore<R extends Region> implements RowStore<R> {
  /** How the store is connected to. */
  public interface Connect<R extends Region> {
    /** A connection, which whoever asks closes. */
    RowTables<R> to(Configuration conf) throws IOException;
  }

  private final String scheme;
  private final Connect<R> connect;
  private RowSource shared;

  /** A store with a scheme of its own. */
  public OneClusterStore(String scheme, Connect<R> connect) {
    this.scheme = scheme;
    this.connect = connect;
  }

  @Override
  public String scheme() {
    return scheme;
  }

  @Override
  public RowTables<R> connect(Configuration conf) throws IOException {
    return connect.to(conf);
  }

  @Override
  public synchronized RowSource shared(Configuration conf) throws IOException {
    if (shared == null) {
      shared = connect.to(conf);
    }
    return shared;
  }
}

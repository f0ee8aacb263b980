package org.assay.hbase;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.security.UserGroupInformation;
import org.assay.rows.RowSource;
import org.assay.rows.RowStore;
import org.assay.rows.RowTables;
import org.assay.rows.Rows;

/** HBase as a store of rows. */
final class HbaseStore implements RowStore<Tables.Place> {
  static final HbaseStore INSTANCE = new HbaseStore();

  /** By where an HBase is, and the user. */
  private final Map<List<String>, Connection> shared = new HashMap<>();

  private HbaseStore() {}

  @Override
  public String scheme() {
    return "hbase";
  }

  @Override
  public RowTables<Tables.Place> connect(Configuration conf) throws IOException {
    return new Tables(conf);
  }

  /** As HBase advises: to connect takes as long as to read some ten megabytes. */
  @Override
  public synchronized RowSource shared(Configuration conf) throws IOException {
    List<String> place =
        List.of(
            conf.get(HConstants.ZOOKEEPER_QUORUM, ""),
            conf.get(HConstants.ZOOKEEPER_CLIENT_PORT, ""),
            conf.get(HConstants.ZOOKEEPER_ZNODE_PARENT, ""),
            UserGroupInformation.getCurrentUser().getUserName());
    Connection known = shared.get(place);
    if (known == null || known.isClosed()) {
      known = ConnectionFactory.createConnection(HBaseConfiguration.create(conf));
      shared.put(place, known);
    }
    return new Tables(known);
  }

  @Override
  public Rows files(Configuration conf, byte[] part, boolean rest) throws IOException {
    return Snapshots.rows(HBaseConfiguration.create(conf), Snapshots.part(part), rest);
  }
}

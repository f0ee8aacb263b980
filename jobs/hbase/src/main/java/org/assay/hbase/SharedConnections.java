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

/**
 * One connection to each HBase for all tasks that run in a process, as HBase advises: to connect
 * takes as long as to read some ten megabytes. Connections end with the process.
 */
final class SharedConnections {
  private static final Map<List<String>, Connection> OPEN = new HashMap<>();

  private SharedConnections() {}

  /** The connection of this user to the HBase that a configuration names; nobody closes it. */
  static synchronized Connection of(Configuration conf) throws IOException {
    List<String> place =
        List.of(
            conf.get(HConstants.ZOOKEEPER_QUORUM, ""),
            conf.get(HConstants.ZOOKEEPER_CLIENT_PORT, ""),
            conf.get(HConstants.ZOOKEEPER_ZNODE_PARENT, ""),
            UserGroupInformation.getCurrentUser().getUserName());
    Connection known = OPEN.get(place);
    if (known == null || known.isClosed()) {
      known = ConnectionFactory.createConnection(HBaseConfiguration.create(conf));
      OPEN.put(place, known);
    }
    return known;
  }
}

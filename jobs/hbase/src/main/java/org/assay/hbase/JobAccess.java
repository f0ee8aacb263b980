package org.assay.hbase;

import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.token.AuthenticationTokenIdentifier;
import org.apache.hadoop.hbase.security.token.ClientTokenUtil;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.security.token.Token;

/** What a job takes along to reach HBase from nodes that know nothing of it. */
final class JobAccess {
  private static final String SITE = "hbase-site.xml";

  private JobAccess() {}

  /**
   * Gives a job that is about to be submitted the client's own configuration of HBase, and with
   * Kerberos a token in place of the login.
   */
  static void give(JobContext job, Connection connection) throws IOException {
    Configuration conf = job.getConfiguration();
    Configuration site = new Configuration(false);
    site.addResource(SITE);
    for (Map.Entry<String, String> property : site) {
      if (conf.getRaw(property.getKey()) == null) {
        conf.set(property.getKey(), property.getValue());
      }
    }
    if (User.isHBaseSecurityEnabled(connection.getConfiguration())) {
      Token<AuthenticationTokenIdentifier> token = ClientTokenUtil.obtainToken(connection);
      job.getCredentials().addToken(token.getService(), token);
    }
  }
}

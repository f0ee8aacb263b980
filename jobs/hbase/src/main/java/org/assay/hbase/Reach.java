package org.assay.hbase;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.security.sasl.SaslException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.exceptions.ConnectionClosedException;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Tells on one line of JSON whether this client can use an HBase that is there already, and changes
 * nothing there: {@code hadoop org.assay.hbase.Reach}.
 *
 * <p>{@code client} and {@code server} are versions, {@code servers} counts the live region
 * servers, {@code files} tells whether HBase's own files can be read, {@code may_create} whether
 * tables may be made (null where nobody can say). What went wrong is {@code error}, and {@code
 * refused} tells that it was the login.
 */
public final class Reach {
  /** A quorum that is there answers at once. */
  private static final int WAIT_MS = 10_000;

  private static final String NAMESPACE = NamespaceDescriptor.DEFAULT_NAMESPACE.getName();

  private Reach() {}

  /** Prints the line; what can't be reached is no failure of its own. */
  public static void main(String[] arguments) throws IOException {
    Map<String, Object> told = new TreeMap<>();
    told.put("client", VersionInfo.getVersion());
    Configuration conf = brief(HBaseConfiguration.create());
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Admin admin = connection.getAdmin()) {
      ClusterMetrics metrics =
          admin.getClusterMetrics(
              EnumSet.of(ClusterMetrics.Option.HBASE_VERSION, ClusterMetrics.Option.LIVE_SERVERS));
      told.put("server", metrics.getHBaseVersion());
      told.put("servers", metrics.getLiveServerMetrics().size());
      told.put("files", readsFiles(conf));
      told.put("may_create", mayCreate(admin));
    } catch (IOException e) {
      told.put("error", last(e));
      told.put("refused", isOfLogin(e, conf));
    }
    System.out.println(new ObjectMapper().writeValueAsString(told));
  }

  private static Configuration brief(Configuration conf) {
    conf.setInt("hbase.client.retries.number", 1);
    conf.setInt("hbase.rpc.timeout", WAIT_MS);
    conf.setInt("hbase.client.operation.timeout", 2 * WAIT_MS);
    conf.setInt("zookeeper.session.timeout", WAIT_MS);
    conf.setInt("zookeeper.recovery.retry", 1);
    return conf;
  }

  private static boolean readsFiles(Configuration conf) {
    if (!Tables.knowsRoot(conf)) {
      return false;
    }
    try {
      Path tables = new Path(CommonFSUtils.getRootDir(conf), "data");
      FileSystem files = tables.getFileSystem(conf);
      return files.listStatus(tables).length > 0;
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }

  /** Null where the servers have no access control of a kind that tells. */
  private static Boolean mayCreate(Admin admin) throws IOException {
    Permission wanted =
        Permission.newBuilder(NAMESPACE).withActions(Permission.Action.CREATE).build();
    try {
      return admin.hasUserPermissions(List.of(wanted)).get(0);
    } catch (AccessDeniedException e) {
      return false;
    } catch (DoNotRetryIOException | UnsupportedOperationException e) {
      return null;
    }
  }

  /** What lies at the bottom of an error. */
  private static String last(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String said = cause.getMessage();
    String first = said == null ? "" : said.lines().findFirst().orElse("").strip();
    first = first.replaceFirst("^[\\w.$]+Exception: ", ""); // what a server names before it speaks
    return first.isEmpty() ? cause.getClass().getSimpleName() : first;
  }

  /**
   * Servers that ask for a login close the connection of a client whose configuration knows of
   * none, mostly without a word.
   */
  private static boolean isOfLogin(Throwable error, Configuration conf) {
    boolean withoutLogin =
        UserGroupInformation.isSecurityEnabled()
            && !"kerberos".equalsIgnoreCase(conf.get("hbase.security.authentication"));
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof AccessDeniedException
          || cause instanceof AccessControlException
          || cause instanceof SaslException
          || (withoutLogin && cause instanceof ConnectionClosedException)
          || String.valueOf(cause.getMessage()).contains("GSS")) {
        return true;
      }
    }
    return false;
  }
}

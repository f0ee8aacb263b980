import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.UserPermission;

/** Grants a user all rights in a namespace, as HBase's shell does with {@code grant}. */
public final class Grant {
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Admin admin = connection.getAdmin()) {
      Permission all =
          Permission.newBuilder(arguments[1]).withActions(Permission.Action.values()).build();
      admin.grant(new UserPermission(arguments[0], all), false);
    }
  }
}

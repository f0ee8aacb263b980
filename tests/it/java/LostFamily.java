import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Removes a family of a table's first row: {@code LostFamily TABLE FAMILY}. */
public final class LostFamily {
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Table table = connection.getTable(TableName.valueOf(arguments[0]));
        ResultScanner rows = table.getScanner(new Scan().setLimit(1))) {
      byte[] family = arguments[1].getBytes(StandardCharsets.UTF_8);
      table.delete(new Delete(rows.next().getRow()).addFamily(family));
    }
  }
}

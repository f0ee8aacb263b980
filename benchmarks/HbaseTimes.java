import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.assay.hbase.LinesInputFormat;

/**
 * Reads a table of HBase in several ways. See {@code stores.py}, which runs it.
 *
 * <p>{@code reads PATH ROUNDS} reads; {@code make TABLE REGIONS} makes a table of HBase for
 * ImportTsv, whose keys begin with a hexadecimal digit.
 */
public final class HbaseTimes {
  private HbaseTimes() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    if (args[0].equals("make")) {
      make(conf, TableName.valueOf(args[1]), Integer.parseInt(args[2]));
      return;
    }
    Path path = new Path(args[1]);
    String table = path.toUri().getPath().substring(1).replace('/', '.');
    Map<String, StoreTimes.Way> ways = new LinkedHashMap<>();
    ways.put("client scan", () -> byClient(conf, TableName.valueOf(table)));
    ways.put("scan", () -> byFormat(conf, path, "scan"));
    ways.put("snapshot", () -> byFormat(conf, path, "snapshot"));
    StoreTimes.inTurn(ways, Integer.parseInt(args[2]));
  }

  /** As HBase's own jobs read: by its client, with what they advise for whole tables. */
  private static StoreTimes.Read byClient(Configuration conf, TableName name) throws IOException {
    StoreTimes.Read read = new StoreTimes.Read();
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Table table = connection.getTable(name);
        ResultScanner rows = table.getScanner(new Scan().setCacheBlocks(false))) {
      for (Result row : rows) {
        read.add(row.value().length);
      }
    }
    return read;
  }

  /** As a job's tasks read, one after the other. */
  private static StoreTimes.Read byFormat(Configuration given, Path path, String how)
      throws Exception {
    Configuration conf = new Configuration(given);
    conf.set("hbase.assay.read", how);
    return StoreTimes.byFormat(new LinesInputFormat(), conf, path, 1);
  }

  private static void make(Configuration conf, TableName name, int regions) throws IOException {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = Bytes.toBytes(String.format(Locale.ROOT, "%02x", 256 * i / regions));
    }
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of("d"))
              .build(),
          splits);
    }
  }
}

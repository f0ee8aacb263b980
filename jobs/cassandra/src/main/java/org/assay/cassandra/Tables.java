package org.assay.cassandra;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.ByteUtils;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.assay.rows.AskedLines;
import org.assay.rows.LinePlaces;
import org.assay.rows.LineWriter;
import org.assay.rows.OneClusterStore;
import org.assay.rows.Region;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.RowSplit;
import org.assay.rows.RowStore;
import org.assay.rows.RowTables;
import org.assay.rows.Rows;

/** A connection to the tables of lines. Columns are never apart: Cassandra reads rows whole. */
final class Tables extends RowTables<Tables.Written> {
  static final RowStore<Written> STORE = new OneClusterStore<>("cassandra", Tables::new);

  /** The property with the keyspace of new tables. */
  static final String KEYSPACE = "cassandra.assay.keyspace";

  /** How many nodes have each line of a new keyspace. */
  static final String COPIES = "cassandra.assay.copies";

  /** How many tasks look lines of a table up at most; by default some for each node. */
  static final String RANGES = "cassandra.assay.ranges";

  /** What all writers of all tables have put, and in which keyspace a table is. */
  private static final String WRITERS = "assay.writers";

  private static final String COPIED =
      " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': ";

  /** How many lines of a writer are one partition. */
  private static final int LINES = 128;

  private static final int PARTITIONS_AT_ONCE = 16;

  /** The lines of one writer: these are in the order in which they were written. */
  static final class Written extends Region {
    final long bytes;

    Written(RegionRows.Run run) {
      super(RowKeys.key(run.writer, 0), RowKeys.key(run.writer, run.rows));
      bytes = run.bytes;
    }
  }

  private final Configuration conf;
  private final Servers servers;

  Tables(Configuration conf) throws IOException {
    this.conf = conf;
    servers = new Servers(conf);
  }

  @Override
  public Configuration conf() {
    return conf;
  }

  /** What Cassandra calls a table: names there are shorter than paths may be. */
  static String id(String table) {
    String digest = UUID.nameUUIDFromBytes(table.getBytes(StandardCharsets.UTF_8)).toString();
    return "t" + digest.replace("-", "");
  }

  /** Whether any table was ever made here. */
  private boolean hasWriters() throws IOException {
    return servers.tables("assay").contains("writers");
  }

  /** Where a table is; null if it is nowhere. */
  private String keyspace(String table) throws IOException {
    if (!hasWriters()) {
      return null;
    }
    Row row = servers.ask("SELECT place FROM " + WRITERS + " WHERE name = ?", table).one();
    return row == null ? null : row.getString(0);
  }

  /** The table with its keyspace, as queries have it. */
  private String full(String table) throws IOException {
    String keyspace = keyspace(table);
    if (keyspace == null) {
      throw new FileNotFoundException("there is no table " + table);
    }
    return keyspace + "." + id(table);
  }

  @Override
  public List<String> names() throws IOException {
    return hasWriters() ? servers.names("SELECT DISTINCT name FROM " + WRITERS) : List.of();
  }

  @Override
  public boolean exists(String table) throws IOException {
    return keyspace(table) != null;
  }

  /** The rows of the whole table, by their writers, as these counted them. */
  private RegionRows counted(String table) throws IOException {
    String query = "SELECT writer, rows, bytes FROM " + WRITERS + " WHERE name = ?";
    List<RegionRows.Run> runs = new ArrayList<>();
    full(table); // it is there
    for (Row row : servers.ask(query, table)) {
      if (!row.isNull(0)) { // else the table was made, and no more
        byte[] writer = ByteUtils.getArray(row.getByteBuffer(0));
        runs.add(new RegionRows.Run(writer, 0, row.getLong(1), row.getLong(2)));
      }
    }
    return new RegionRows(new byte[0], new byte[0], runs);
  }

  @Override
  public List<Written> regions(String table) throws IOException {
    List<Written> regions = new ArrayList<>();
    for (RegionRows.Run run : counted(table).runs) {
      if (run.rows > 0) {
        regions.add(new Written(run));
      }
    }
    return regions;
  }

  @Override
  public long bytes(Written region) {
    return region.bytes;
  }

  @Override
  protected List<RegionRows> count(String table, List<Written> regions) throws IOException {
    return List.of(counted(table));
  }

  /** Equal ranges of the ring, whatever the nodes' tokens are. */
  @Override
  protected List<InputSplit> splits(String table, long splitBytes) throws IOException {
    RegionRows counted = counted(table);
    Ring ring = servers.ring();
    if (AskedLines.areSaid(conf)) {
      LinePlaces lines = LinePlaces.of(table, List.of(counted), insteadOfLookup());
      int most = conf.getInt(RANGES, 4 * ring.hosts());
      return new AskedLines(conf).splits(table, lines, false, most);
    }
    int parts = (int) RegionRows.parts(counted.rows(), counted.bytes(), splitBytes);
    List<InputSplit> splits = new ArrayList<>();
    for (Ring.Range tokens : ring.cut(parts)) {
      List<RowSplit.Part> part = List.of(new RowSplit.Part(end(tokens.after), end(tokens.last)));
      String[] host = {tokens.host};
      long rows = counted.rows() / parts;
      splits.add(new RowSplit(table, part, host, rows, counted.bytes() / parts, false));
    }
    return splits;
  }

  /** An end of a range of tokens, which is no row's key. */
  static byte[] end(long token) {
    return ByteBuffer.allocate(Long.BYTES).putLong(token).array();
  }

  /** In their order where both ends are keys of one writer, else by tokens. */
  @Override
  public Rows scan(String table, byte[] start, byte[] stop, boolean rest) throws IOException {
    if (RowKeys.isKey(start)) {
      return inOrder(table, RowKeys.writer(start), RowKeys.count(start), RowKeys.count(stop));
    }
    long after = ByteBuffer.wrap(start).getLong();
    long last = ByteBuffer.wrap(stop).getLong();
    return servers.byTokens("line", full(table), after, last);
  }

  private Rows inOrder(String table, byte[] writer, long first, long end) throws IOException {
    String where = " WHERE key = ? AND number >= ? AND number < ?";
    PreparedStatement some = servers.prepared("SELECT line FROM " + full(table) + where);
    return new Servers.Answers(Collections.emptyIterator()) {
      private long reached = first;

      @Override
      Iterator<Row> more() throws IOException {
        List<BoundStatement> asked = new ArrayList<>();
        long before = reached;
        while (reached < end && asked.size() < PARTITIONS_AT_ONCE) {
          long to = Math.min(end, reached / LINES * LINES + LINES);
          int after = (int) ((to - 1) % LINES) + 1;
          asked.add(some.bind(partition(writer, reached), (int) (reached % LINES), after));
          reached = to;
        }
        return asked.isEmpty() ? null : whole(table, asked, reached - before);
      }
    };
  }

  private static ByteBuffer partition(byte[] writer, long row) {
    return ByteBuffer.wrap(RowKeys.key(writer, row / LINES));
  }

  /** All rows that are asked for. */
  private Iterator<Row> whole(String table, List<BoundStatement> asked, long rows)
      throws IOException {
    List<Row> got = servers.all(asked);
    if (got.size() != rows) {
      throw new IOException("table " + table + " has lost " + (rows - got.size()) + " rows");
    }
    return got.iterator();
  }

  @Override
  public Rows get(String table, List<byte[]> keys, boolean rest) throws IOException {
    PreparedStatement single =
        servers.prepared("SELECT line FROM " + full(table) + " WHERE key = ? AND number = ?");
    List<BoundStatement> asked = new ArrayList<>();
    for (byte[] key : keys) {
      long row = RowKeys.count(key);
      asked.add(single.bind(partition(RowKeys.writer(key), row), (int) (row % LINES)));
    }
    return new Servers.Answers(whole(table, asked, keys.size()));
  }

  @Override
  public void create(String table) throws IOException {
    if (exists(table)) {
      useMemtable(table, "default");
      return;
    }
    String keyspace = conf.getTrimmed(KEYSPACE, "assay_input");
    for (String name : servers.tables(keyspace)) {
      if (!name.matches("t[0-9a-f]{32}")) {
        throw new FileAlreadyExistsException(
            String.format(
                Locale.ROOT,
                "keyspace %s is there already, and has tables that are none of Assay's: nothing is"
                    + " written into it; name another by %s, or remove the keyspace",
                keyspace,
                KEYSPACE));
      }
    }
    servers.awaitAll();
    for (String name : List.of("assay", keyspace)) {
      servers.ask("CREATE KEYSPACE IF NOT EXISTS " + name + COPIED + conf.getInt(COPIES, 1) + "}");
    }
    String counts = " (name text, place text static, writer blob, rows bigint, bytes bigint,";
    servers.ask("CREATE TABLE IF NOT EXISTS " + WRITERS + counts + " PRIMARY KEY (name, writer))");
    String lines = " (key blob, number int, line blob, PRIMARY KEY (key, number))";
    servers.ask("CREATE TABLE IF NOT EXISTS " + keyspace + "." + id(table) + lines);
    servers.ask("INSERT INTO " + WRITERS + " (name, place) VALUES (?, ?)", table, keyspace);
  }

  /** One: its partitions lie on all nodes, and each further one would be a region of its own. */
  @Override
  protected int writersOfStream(String table) {
    return 1;
  }

  @Override
  protected LineWriter writer(String table, RowKeys keys, int apart) throws IOException {
    PreparedStatement put =
        servers.prepared("INSERT INTO " + full(table) + " (key, number, line) VALUES (?, ?, ?)");
    String count = "INSERT INTO " + WRITERS + " (name, writer, rows, bytes) VALUES (?, ?, ?, ?)";
    byte[] writer = keys.writer();
    return new PutWriter(
        line -> {
          long row = RowKeys.count(keys.next());
          return servers.send(put.bind(partition(writer, row), (int) (row % LINES), line));
        },
        (rows, bytes) -> servers.ask(count, table, ByteBuffer.wrap(writer), rows, bytes));
  }

  /**
   * Has each node write the table's lines into files, and waits for that. A table that gets another
   * sort of memtable is written so; by CQL there is no other way to ask.
   */
  @Override
  public void settle(String table) throws IOException {
    useMemtable(table, "settled");
    servers.awaitFlushed();
  }

  private void useMemtable(String table, String sort) throws IOException {
    servers.ask("ALTER TABLE " + full(table) + " WITH memtable = '" + sort + "'");
  }

  @Override
  public void empty(String table, RowKeys keys) throws IOException {
    String full = full(table);
    Rows keysThere = servers.byTokens("DISTINCT key", full, Long.MIN_VALUE, Long.MAX_VALUE);
    Text key = new Text();
    while (keysThere.next(key)) {
      if (Arrays.equals(keys.writer(), RowKeys.writer(key.copyBytes()))) {
        servers.ask("DELETE FROM " + full + " WHERE key = ?", ByteBuffer.wrap(key.copyBytes()));
      }
    }
    String forget = "DELETE FROM " + WRITERS + " WHERE name = ? AND writer = ?";
    servers.ask(forget, table, ByteBuffer.wrap(keys.writer()));
  }

  @Override
  public void drop(String table) throws IOException {
    servers.ask("DROP TABLE IF EXISTS " + full(table));
    servers.ask("DELETE FROM " + WRITERS + " WHERE name = ?", table);
  }

  @Override
  public void close() {
    servers.close();
  }
}

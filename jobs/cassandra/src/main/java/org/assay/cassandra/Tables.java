package org.assay.cassandra;

import com.datastax.oss.driver.api.core.cql.Row;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.assay.rows.AskedLines;
import org.assay.rows.LinePlaces;
import org.assay.rows.LineWriter;
import org.assay.rows.Region;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.RowSplit;
import org.assay.rows.RowTables;
import org.assay.rows.Rows;
import org.assay.rows.WriterRows;

/** A connection to the tables of lines. Columns are never apart: Cassandra reads rows whole. */
final class Tables extends RowTables<Tables.Range> {
  /** The property with the keyspace of new tables. */
  static final String KEYSPACE = "cassandra.assay.keyspace";

  /** How many nodes have each line of a new keyspace. */
  static final String COPIES = "cassandra.assay.copies";

  /** How many ranges a table is shown in, and looked up by at once; by default some for a node. */
  static final String RANGES = "cassandra.assay.ranges";

  /** What all writers of all tables have put, and in which keyspace a table is. */
  private static final String WRITERS = "assay.writers";

  /** The sorts of memtables that a table has while it is written, and when that has ended. */
  private static final String USUAL = "default";

  private static final String SETTLED = "settled";

  /** Tokens of a table. Its start is the token before them, its stop their last. */
  static final class Range extends Region {
    final long bytes;

    Range(Ring.Range tokens, long bytes) {
      super(bytes(tokens.after), bytes(tokens.last), tokens.host);
      this.bytes = bytes;
    }

    private static byte[] bytes(long token) {
      return ByteBuffer.allocate(Long.BYTES).putLong(token).array();
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

  /** Where a table is; null if it is nowhere. */
  private String keyspace(String table) throws IOException {
    if (!servers.tables("assay").contains("writers")) {
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
    List<String> names = new ArrayList<>();
    if (servers.tables("assay").contains("writers")) {
      servers.ask("SELECT DISTINCT name FROM " + WRITERS).forEach(row -> names.add(row.getString(0)));
    }
    return names;
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
        runs.add(new RegionRows.Run(Servers.bytes(row), 0, row.getLong(1), row.getLong(2)));
      }
    }
    return new RegionRows(new byte[0], new byte[0], runs);
  }

  @Override
  public List<Range> regions(String table) throws IOException {
    long bytes = counted(table).bytes();
    Ring ring = servers.ring();
    List<Ring.Range> cut = ring.cut(conf.getInt(RANGES, 4 * ring.hosts()));
    List<Range> regions = new ArrayList<>();
    for (int number = 0; number < cut.size(); number++) {
      long before = bytes * number / cut.size();
      regions.add(new Range(cut.get(number), bytes * (number + 1) / cut.size() - before));
    }
    return regions;
  }

  /** An equal share of the table's: keys are spread evenly. */
  @Override
  public long bytes(Range region) {
    return region.bytes;
  }

  @Override
  protected List<RegionRows> count(String table, List<Range> regions) throws IOException {
    return List.of(counted(table));
  }

  /** Equal ranges of the ring, whatever the nodes' tokens are. */
  @Override
  protected List<InputSplit> splits(String table, long splitBytes) throws IOException {
    RegionRows counted = counted(table);
    Ring ring = servers.ring();
    if (AskedLines.areSaid(conf)) {
      LinePlaces lines = LinePlaces.of(table, List.of(counted), insteadOfLookup());
      return new AskedLines(conf).splits(table, lines, false, conf.getInt(RANGES, 4 * ring.hosts()));
    }
    int parts = (int) RegionRows.parts(counted.rows(), counted.bytes(), splitBytes);
    List<InputSplit> splits = new ArrayList<>();
    for (Ring.Range tokens : ring.cut(parts)) {
      Range range = new Range(tokens, counted.bytes() / parts);
      List<RowSplit.Part> part = List.of(new RowSplit.Part(range.start, range.stop));
      String[] host = {tokens.host};
      splits.add(new RowSplit(table, part, host, counted.rows() / parts, range.bytes, false));
    }
    return splits;
  }

  /** By keys where both ends are keys of one writer, else by tokens. */
  @Override
  public Rows scan(String table, byte[] start, byte[] stop, boolean rest) throws IOException {
    if (RowKeys.isKey(start)) {
      return new WriterRows(this, table, start, stop);
    }
    long after = ByteBuffer.wrap(start).getLong();
    long last = ByteBuffer.wrap(stop).getLong();
    return lines(servers.byTokens("line", full(table), after, last));
  }

  private static Rows lines(Iterator<Row> rows) {
    return new Rows() {
      @Override
      public boolean next(Text line) throws IOException {
        boolean more = Servers.asked(rows::hasNext);
        if (more) {
          line.set(Servers.bytes(rows.next()));
        }
        return more;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public Rows get(String table, List<byte[]> keys, boolean rest) throws IOException {
    List<Row> rows = servers.get("SELECT line FROM " + full(table) + " WHERE key = ?", keys);
    int lost = rows.indexOf(null);
    if (lost >= 0) {
      String key = Arrays.toString(keys.get(lost));
      throw new IOException("table " + table + " has lost row " + key);
    }
    return lines(rows.iterator());
  }

  @Override
  public void create(String table) throws IOException {
    if (exists(table)) {
      useMemtable(table, USUAL);
      return;
    }
    String keyspace = conf.getTrimmed(KEYSPACE, "assay_input");
    refuseOthers(keyspace);
    servers.awaitAll();
    for (String name : List.of("assay", keyspace)) {
      servers.makeKeyspace(name, conf.getInt(COPIES, 1));
    }
    servers.ask(
        "CREATE TABLE IF NOT EXISTS "
            + WRITERS
            + " (name text, place text static, writer blob, rows bigint, bytes bigint,"
            + " PRIMARY KEY (name, writer))");
    servers.ask(
        "CREATE TABLE " + keyspace + "." + id(table) + " (key blob PRIMARY KEY, line blob)");
    String made = "INSERT INTO " + WRITERS + " (name, place) VALUES (?, ?)";
    servers.change(made, table, keyspace);
  }

  private void refuseOthers(String keyspace) throws IOException {
    for (String name : servers.tables(keyspace)) {
      if (!name.matches("t[0-9a-f]{32}")) {
        throw new FileAlreadyExistsException(
            "keyspace "
                + keyspace
                + " is there already, and has tables that are none of Assay's: nothing is written"
                + " into it; name another by "
                + KEYSPACE
                + ", or remove the keyspace");
      }
    }
  }

  @Override
  protected LineWriter writer(String table, RowKeys keys, int apart) throws IOException {
    String put = "INSERT INTO " + full(table) + " (key, line) VALUES (?, ?)";
    String count = "INSERT INTO " + WRITERS + " (name, writer, rows, bytes) VALUES (?, ?, ?, ?)";
    ByteBuffer writer = ByteBuffer.wrap(keys.writer());
    return new PutWriter(
        line -> servers.put(put, ByteBuffer.wrap(keys.next()), line),
        (rows, bytes) -> servers.change(count, table, writer, rows, bytes));
  }

  /**
   * Has each node write the table's lines into files, and waits for that. A table that gets another
   * sort of memtable is written so; by CQL there is no other way to ask.
   */
  @Override
  public void settle(String table) throws IOException {
    useMemtable(table, SETTLED);
    servers.awaitFlushed();
  }

  private void useMemtable(String table, String sort) throws IOException {
    servers.ask("ALTER TABLE " + full(table) + " WITH memtable = '" + sort + "'");
  }

  /** Deletes rows as they are now: what is put under the same keys afterwards stays. */
  @Override
  public void empty(String table, RowKeys keys) throws IOException {
    String delete = "DELETE FROM " + full(table) + " USING TIMESTAMP ? WHERE key = ?";
    Iterator<Row> rows =
        servers.byTokens("key, writetime(line)", full(table), Long.MIN_VALUE, Long.MAX_VALUE);
    while (Servers.asked(rows::hasNext)) {
      Row row = rows.next();
      byte[] key = Servers.bytes(row);
      if (Arrays.equals(keys.writer(), RowKeys.writer(key))) {
        servers.change(delete, row.getLong(1), ByteBuffer.wrap(key));
      }
    }
    String forget = "DELETE FROM " + WRITERS + " WHERE name = ? AND writer = ?";
    servers.change(forget, table, ByteBuffer.wrap(keys.writer()));
  }

  @Override
  public void drop(String table) throws IOException {
    servers.ask("DROP TABLE IF EXISTS " + full(table));
    servers.change("DELETE FROM " + WRITERS + " WHERE name = ?", table);
  }

  @Override
  public void close() {
    servers.close();
  }
}

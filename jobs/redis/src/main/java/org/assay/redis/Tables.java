package org.assay.redis;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.util.StringUtils;
import org.assay.rows.LineWriter;
import org.assay.rows.OneClusterStore;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.RowStore;
import org.assay.rows.RowTables;
import org.assay.rows.Rows;
import org.assay.rows.RunRegion;

/**
 * A connection to the tables of lines, whose regions are what each writer has put. Columns are
 * never apart: values are got whole.
 */
final class Tables extends RowTables<RunRegion> {
  static final RowStore<RunRegion> STORE = new OneClusterStore<>("redis", Tables::new);

  /** How many tasks look lines of a table up at most; by default some for each server. */
  static final String TASKS = "redis.assay.tasks";

  /** How many lines one command puts, gets or removes at most: meanwhile a server does no other. */
  static final int BATCH_LINES = 500;

  /**
   * The set of all tables, on the first server; no key is called so. There, too, a hash under each
   * table's name tells how many lines each writer has put, and their bytes.
   */
  private static final String TABLES = "/";

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

  /** The name under which a server has the row of a table with a key. */
  static byte[] name(String table, byte[] key) {
    byte[] begin = (table + "/").getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(begin.length + key.length).put(begin).put(key).array();
  }

  /** The keys of rows of a writer that follow each other. */
  private static Iterator<byte[]> keys(byte[] writer, long first, long end) {
    return LongStream.range(first, end).mapToObj(row -> RowKeys.key(writer, row)).iterator();
  }

  @Override
  public List<String> names() throws IOException {
    Set<String> names = servers.ask(0, server -> server.smembers(TABLES));
    return new ArrayList<>(names);
  }

  @Override
  public boolean exists(String table) throws IOException {
    return servers.ask(0, server -> server.sismember(TABLES, table));
  }

  /** What each writer has put into a table, in the order of their keys. */
  private List<RegionRows.Run> runs(String table) throws IOException {
    if (!exists(table)) {
      throw new FileNotFoundException("there is no table " + table);
    }
    Map<String, String> writers = servers.ask(0, server -> server.hgetAll(table));
    List<RegionRows.Run> runs = new ArrayList<>();
    new TreeMap<>(writers).forEach((writer, counted) -> runs.add(run(writer, counted)));
    return runs;
  }

  /** What a writer has put, as it has counted that. */
  static RegionRows.Run run(String writer, String counted) {
    int blank = counted.indexOf(' ');
    long rows = Long.parseLong(counted.substring(0, blank));
    long bytes = Long.parseLong(counted.substring(blank + 1));
    return new RegionRows.Run(StringUtils.hexStringToByte(writer), 0, rows, bytes);
  }

  @Override
  public List<RunRegion> regions(String table) throws IOException {
    List<RunRegion> regions = new ArrayList<>();
    for (RegionRows.Run run : runs(table)) {
      if (run.rows > 0) {
        regions.add(new RunRegion(run, servers.host(run.writer)));
      }
    }
    return regions;
  }

  @Override
  public long bytes(RunRegion region) {
    return region.run.bytes;
  }

  @Override
  protected List<RegionRows> count(String table, List<RunRegion> regions) {
    return RunRegion.count(regions);
  }

  @Override
  protected int lookups(int regions) {
    return conf.getInt(TASKS, 4 * servers.count());
  }

  @Override
  public Rows scan(String table, byte[] start, byte[] stop, boolean rest) {
    return new Lines(table, keys(RowKeys.writer(start), RowKeys.count(start), RowKeys.count(stop)));
  }

  @Override
  public Rows get(String table, List<byte[]> keys, boolean rest) {
    return new Lines(table, keys.iterator());
  }

  /** The lines of known keys, some of which are got together. */
  private final class Lines implements Rows {
    private final String table;
    private final Iterator<byte[]> keys;
    private byte[][] lines = {};
    private int next;

    Lines(String table, Iterator<byte[]> keys) {
      this.table = table;
      this.keys = keys;
    }

    @Override
    public boolean next(Text line) throws IOException {
      if (next == lines.length) {
        List<byte[]> asked = new ArrayList<>();
        while (asked.size() < BATCH_LINES && keys.hasNext()) {
          asked.add(keys.next());
        }
        lines = lines(table, asked);
        next = 0;
      }
      if (next < lines.length) {
        line.set(lines[next++]);
        return true;
      }
      return false;
    }

    @Override
    public void close() {}
  }

  /** The lines with these keys, in their order. */
  private byte[][] lines(String table, List<byte[]> keys) throws IOException {
    byte[][] lines = new byte[keys.size()][];
    for (int number = 0; number < servers.count(); number++) {
      int asked = number;
      int[] places =
          IntStream.range(0, lines.length)
              .filter(place -> servers.of(keys.get(place)) == asked)
              .toArray();
      if (places.length > 0) {
        byte[][] names =
            IntStream.of(places)
                .mapToObj(place -> name(table, keys.get(place)))
                .toArray(byte[][]::new);
        List<byte[]> values = servers.ask(asked, server -> server.mget(names));
        for (int place = 0; place < places.length; place++) {
          lines[places[place]] = there(table, keys.get(places[place]), values.get(place));
        }
      }
    }
    return lines;
  }

  /** The line that a key was to have. */
  static byte[] there(String table, byte[] key, byte[] line) throws IOException {
    if (line == null) {
      throw new IOException(
          "table " + table + " has lost the row " + StringUtils.byteToHexString(key));
    }
    return line;
  }

  @Override
  public void create(String table) throws IOException {
    servers.ask(0, server -> server.sadd(TABLES, table));
  }

  /** One for each server. */
  @Override
  protected int writersOfStream(String table) {
    return servers.count();
  }

  @Override
  protected LineWriter writer(String table, RowKeys keys, int apart) throws IOException {
    byte[] writer = keys.writer();
    String id = StringUtils.byteToHexString(writer);
    if (servers.ask(0, server -> server.hsetnx(table, id, "0 0")) == 0) {
      throw new IOException(
          "table " + table + " has lines of this name; put these under another one");
    }
    int place = servers.of(writer);
    return new PutWriter(
        () -> name(table, keys.next()),
        pairs -> servers.ask(place, server -> server.mset(pairs)),
        (rows, bytes) -> servers.ask(0, server -> server.hset(table, id, rows + " " + bytes)));
  }

  /** Does nothing: what a server has taken is in its memory, and goes into its log by itself. */
  @Override
  public void settle(String table) {}

  @Override
  public void empty(String table, RowKeys keys) throws IOException {
    empty(table, keys.writer());
  }

  /** Removes the rows of a writer, which has put them in their order, until there are no more. */
  private void empty(String table, byte[] writer) throws IOException {
    long removed = BATCH_LINES;
    for (long first = 0; removed > 0; first += BATCH_LINES) {
      List<byte[]> names = new ArrayList<>();
      keys(writer, first, first + BATCH_LINES).forEachRemaining(key -> names.add(name(table, key)));
      removed =
          servers.ask(servers.of(writer), server -> server.unlink(names.toArray(new byte[0][])));
    }
    servers.ask(0, server -> server.hdel(table, StringUtils.byteToHexString(writer)));
  }

  @Override
  public void drop(String table) throws IOException {
    for (RegionRows.Run run : runs(table)) {
      empty(table, run.writer);
    }
    servers.ask(0, server -> server.srem(TABLES, table));
  }

  @Override
  public void close() {
    servers.close();
  }
}

package org.assay.documents;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
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
import org.bson.Document;
import org.bson.types.Binary;

/**
 * A connection to the tables of lines, whose regions are collections. Columns are never apart:
 * documents are read whole.
 */
final class Tables extends RowTables<RunRegion> {
  static final RowStore<RunRegion> STORE = new OneClusterStore<>("documents", Tables::new);

  /** The property with the database of new tables. */
  static final String DATABASE = "documents.assay.database";

  /** How many tasks look lines of a table up at most; by default some for each server. */
  static final String TASKS = "documents.assay.tasks";

  /** How many lines of a writer are one collection. */
  static final int LINES = 8192;

  /** So many rows are looked up one by one rather than by a scan of their collection. */
  private static final int FEW_ROWS = 512;

  private static final int ANSWER_DOCUMENTS = 1000;

  /**
   * The database on the first server that has a collection for each table. A document there tells
   * what a writer has put, and the one without a writer which database has the table's lines.
   */
  private static final String CATALOGUE = "assay";

  private static final String NO_WRITER = "";

  private final Configuration conf;
  private final Servers servers;

  Tables(Configuration conf) {
    this.conf = conf;
    servers = new Servers(conf);
  }

  @Override
  public Configuration conf() {
    return conf;
  }

  /** A key, or what the keys of a writer begin with, as documents have it: in the same order. */
  static String id(byte[] key) {
    return StringUtils.byteToHexString(key);
  }

  /** What the names of a writer's collections begin with. */
  private static String begin(String table, byte[] writer) {
    return table + "/" + id(writer) + "/";
  }

  private MongoCollection<Document> collection(
      String place, String table, byte[] writer, long row) {
    int server = servers.of(writer);
    return servers.collection(server, place, begin(table, writer) + row / LINES);
  }

  private MongoCollection<Document> entries(String table) {
    return servers.collection(0, CATALOGUE, table);
  }

  @Override
  public List<String> names() throws IOException {
    return servers.collections(0, CATALOGUE);
  }

  @Override
  public boolean exists(String table) throws IOException {
    return single(entries(table), NO_WRITER) != null;
  }

  private static Document single(MongoCollection<Document> collection, String id)
      throws IOException {
    return Servers.asked(() -> collection.find(Filters.eq("_id", id)).first());
  }

  /** The database that has a table's lines. */
  private String place(String table) throws IOException {
    Document entry = single(entries(table), NO_WRITER);
    if (entry == null) {
      throw new FileNotFoundException("there is no table " + table);
    }
    return entry.getString("place");
  }

  @Override
  public List<RunRegion> regions(String table) throws IOException {
    place(table); // it is there
    List<RunRegion> regions = new ArrayList<>();
    for (Document entry :
        Servers.asked(
            () -> entries(table).find().sort(Sorts.ascending("_id")).into(new ArrayList<>()))) {
      if (!entry.getString("_id").equals(NO_WRITER)) {
        runs(entry).forEach(run -> regions.add(new RunRegion(run, servers.host(run.writer))));
      }
    }
    return regions;
  }

  /** The collections of a writer, as it has counted them. */
  static List<RegionRows.Run> runs(Document entry) {
    byte[] writer = StringUtils.hexStringToByte(entry.getString("_id"));
    long left = entry.getLong("rows");
    List<RegionRows.Run> runs = new ArrayList<>();
    for (Long bytes : entry.getList("bytes", Long.class)) {
      long first = (long) runs.size() * LINES;
      runs.add(new RegionRows.Run(writer, first, Math.min(LINES, left), bytes));
      left -= LINES;
    }
    return runs;
  }

  @Override
  public long bytes(RunRegion region) {
    return region.run.bytes;
  }

  @Override
  protected List<RegionRows> count(String table, List<RunRegion> regions) {
    return RunRegion.count(regions);
  }

  /** The server would read the whole collection for each part of it. */
  @Override
  protected boolean readsWhole() {
    return true;
  }

  @Override
  protected int lookups(int regions) {
    return conf.getInt(TASKS, 4 * servers.count());
  }

  @Override
  public Rows scan(String table, byte[] start, byte[] stop, boolean rest) throws IOException {
    byte[] writer = RowKeys.writer(start);
    long end = RowKeys.count(stop);
    Iterator<byte[]> keys =
        LongStream.range(RowKeys.count(start), end)
            .mapToObj(row -> RowKeys.key(writer, row))
            .iterator();
    String place = place(table);
    if (end - RowKeys.count(start) <= FEW_ROWS) {
      return new Lines(table, place, keys);
    }
    return new Lines(table, place, keys) {
      private MongoCursor<Document> documents;

      @Override
      Document document(byte[] key) throws IOException {
        if (documents == null || RowKeys.count(key) % LINES == 0) {
          close();
          documents =
              Servers.asked(
                  () -> between(collection(place, table, writer, RowKeys.count(key)), key, stop));
        }
        return Servers.asked(() -> documents.hasNext() ? documents.next() : null);
      }

      @Override
      public void close() {
        if (documents != null) {
          documents.close();
        }
      }
    };
  }

  /** A collection's documents from a key up to another. */
  private static MongoCursor<Document> between(
      MongoCollection<Document> collection, byte[] start, byte[] stop) {
    long first = RowKeys.count(start);
    boolean whole = first % LINES == 0 && RowKeys.count(stop) - first >= LINES;
    return collection
        .find(
            whole
                ? Filters.empty()
                : Filters.and(Filters.gte("_id", id(start)), Filters.lt("_id", id(stop))))
        .batchSize(ANSWER_DOCUMENTS)
        .cursor();
  }

  @Override
  public Rows get(String table, List<byte[]> keys, boolean rest) throws IOException {
    return new Lines(table, place(table), keys.iterator());
  }

  /** The lines with these keys, each of which is asked for alone. */
  private class Lines implements Rows {
    private final String table;
    private final String place;
    private final Iterator<byte[]> keys;

    Lines(String table, String place, Iterator<byte[]> keys) {
      this.table = table;
      this.place = place;
      this.keys = keys;
    }

    /** The document with a key, if it is there. */
    Document document(byte[] key) throws IOException {
      return single(collection(place, table, RowKeys.writer(key), RowKeys.count(key)), id(key));
    }

    @Override
    public boolean next(Text line) throws IOException {
      if (!keys.hasNext()) {
        return false;
      }
      byte[] key = keys.next();
      line.set(line(table, key, document(key)));
      return true;
    }

    @Override
    public void close() {}
  }

  /** The line of the document that a key was to have. */
  static byte[] line(String table, byte[] key, Document document) throws IOException {
    if (document == null || !id(key).equals(document.getString("_id"))) {
      throw new IOException("table " + table + " has lost the row " + id(key));
    }
    return document.get("line", Binary.class).getData();
  }

  @Override
  public void create(String table) throws IOException {
    if (!exists(table)) {
      String place = conf.getTrimmed(DATABASE, "assay_input");
      Document entry = new Document("_id", NO_WRITER).append("place", place);
      Servers.asked(() -> entries(table).insertOne(entry));
    }
  }

  /** One for each server. */
  @Override
  protected int writersOfStream(String table) {
    return servers.count();
  }

  @Override
  protected LineWriter writer(String table, RowKeys keys, int apart) throws IOException {
    byte[] writer = keys.writer();
    String place = place(table);
    return new PutWriter(
        keys,
        (row, documents) -> collection(place, table, writer, row).insertMany(documents),
        (rows, bytes) -> {
          Document entry = new Document("_id", id(writer)).append("rows", rows);
          Servers.asked(() -> entries(table).insertOne(entry.append("bytes", bytes)));
        });
  }

  /** Does nothing: what a server has taken is in its database's log, on its drive. */
  @Override
  public void settle(String table) {}

  @Override
  public void empty(String table, RowKeys keys) throws IOException {
    byte[] writer = keys.writer();
    int server = servers.of(writer);
    String begin = begin(table, writer);
    servers.drop(server, place(table), name -> name.startsWith(begin));
    Servers.asked(() -> entries(table).deleteOne(Filters.eq("_id", id(writer))));
  }

  @Override
  public void drop(String table) throws IOException {
    String place = place(table);
    for (int server = 0; server < servers.count(); server++) {
      servers.drop(server, place, name -> name.startsWith(table + "/"));
    }
    servers.drop(0, CATALOGUE, table::equals);
  }

  @Override
  public void close() {
    servers.close();
  }
}

package org.assay.rows;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;

/**
 * A connection to a store's tables of lines. A path names a table: {@code /runs/input} the table
 * {@code runs.input}. It touches no table but those that it has made.
 *
 * @param <R> a region, as the store knows it
 */
public abstract class RowTables<R extends Region> implements RowSource, Closeable {
  /**
   * The table that a path names.
   *
   * @throws IllegalArgumentException for a path that names none
   */
  public static String at(Path path) {
    if (!isName(path)) {
      throw new IllegalArgumentException(
          "path "
              + path
              + " names no table: its parts have letters, digits, _ and -, and begin with no -");
    }
    return parts(path).replace('/', '.');
  }

  /** Whether a path can be a table's. */
  private static boolean isName(Path path) {
    return parts(path).matches("\\w[\\w-]*(/\\w[\\w-]*)*");
  }

  private static String parts(Path path) {
    String name = Path.getPathWithoutSchemeAndAuthority(path).toString();
    return name.startsWith("/") ? name.substring(1) : name;
  }

  /** The path of a table, without a scheme. */
  static Path path(String table) {
    return new Path("/" + table.replace('.', '/'));
  }

  public abstract Configuration conf();

  /** Gives a job that is about to be submitted what its tasks need beside its client's settings. */
  public void give(JobContext job) throws IOException {}

  /** The names of all tables. */
  public abstract List<String> names() throws IOException;

  public abstract boolean exists(String table) throws IOException;

  /**
   * The regions of a table in the order of their keys.
   *
   * @throws java.io.FileNotFoundException where there is no such table
   */
  public abstract List<R> regions(String table) throws IOException;

  /** The bytes of a region, 0 only where it has no line: as exactly as the store knows. */
  public abstract long bytes(R region) throws IOException;

  /** How many columns a table has apart from the others; 0 if it keeps lines whole. */
  public int apart(String table) throws IOException {
    return 0;
  }

  /**
   * Makes a table unless it is there, in regions for the writers that will share it.
   *
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException where it is there, and somebody else's
   */
  public abstract void create(String table) throws IOException;

  /**
   * Puts lines into a table.
   *
   * @param apart how many columns the table has apart from the others; 0 if it keeps lines whole
   */
  protected abstract LineWriter writer(String table, RowKeys keys, int apart) throws IOException;

  /** How many writers share the lines of a stream: one for each region that was made. */
  protected int writersOfStream(String table) throws IOException {
    return regions(table).size();
  }

  /** Brings what was written into the table's files. */
  public abstract void settle(String table) throws IOException;

  /** Deletes all rows of a region, where a store can do that. */
  public void empty(String table, R region) throws IOException {
    throw new UnsupportedOperationException(
        "rows of one region of table " + table + " can't be removed alone; remove the table");
  }

  /** Deletes all rows of the writer with these keys. */
  public abstract void empty(String table, RowKeys keys) throws IOException;

  /** Removes a table with all that belongs to it; the table itself last. */
  public abstract void drop(String table) throws IOException;

  /** The regions of a table, with their hosts. */
  protected List<R> places(String table) throws IOException {
    return regions(table);
  }

  /** About what each region has, by the writers of its rows. */
  protected abstract List<RegionRows> count(String table, List<R> regions) throws IOException;

  /** What stands for keys of a region that tasks read without servers; empty if they ask these. */
  protected byte[] files(R region, RegionRows.Range range, boolean rest) throws IOException {
    return new byte[0];
  }

  /** Whether tasks get rows by their keys. */
  protected boolean getsRows() {
    return true;
  }

  /** Whether a region is never divided among tasks. */
  protected boolean readsWhole() {
    return false;
  }

  /** How many tasks get the rows that a job asks for at most, of a table with so many regions. */
  protected int lookups(int regions) {
    return regions;
  }

  /** What to do instead where lines can't be looked up, to go on a sentence; empty if nothing. */
  protected String insteadOfLookup() {
    return "";
  }

  /** The splits of a table, of about so many bytes each, or of the lines that a job asks for. */
  protected List<InputSplit> splits(String table, long splitBytes) throws IOException {
    return RowInputFormat.splits(this, table, splitBytes);
  }

  /** All tables at and below a path. */
  public List<String> below(Path path) throws IOException {
    List<String> tables = new ArrayList<>();
    if (!path.isRoot() && !isName(path)) {
      return tables; // a file's name, below a table
    }
    String name = path.isRoot() ? "" : at(path);
    for (String other : names()) {
      if (name.isEmpty() || other.equals(name) || other.startsWith(name + ".")) {
        tables.add(other);
      }
    }
    return tables;
  }

  /**
   * Removes all tables at and below a path, and tells whether there was any. One that can't be
   * removed keeps no other; the first one's error is thrown at the end.
   */
  public boolean dropBelow(Path path) throws IOException {
    List<String> below = below(path);
    IOException failure = null;
    for (String table : below) {
      try {
        drop(table);
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
    return !below.isEmpty();
  }

  /**
   * Adds lines to a table, which is made if it is not there. When the stream is closed, all its
   * lines are in the table's files, and this connection is closed.
   *
   * @param name tells this stream's lines from those of others
   */
  LineStream stream(String table, String name) throws IOException {
    create(table);
    int places = writersOfStream(table);
    int apart = apart(table);
    List<LineWriter> writers = new ArrayList<>();
    for (int place = 0; place < places; place++) {
      writers.add(writer(table, new RowKeys(RowKeys.number(name), place, places), apart));
    }
    RowTables<R> tables = this;
    return new LineStream(
        writers,
        () -> {
          try (tables) {
            tables.settle(table);
          }
        });
  }
}

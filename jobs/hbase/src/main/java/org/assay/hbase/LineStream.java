package org.assay.hbase;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;

/**
 * Cuts a stream of bytes into lines, which go to all regions of a table in turn, some at a time.
 */
final class LineStream extends OutputStream {
  static final int LINES_IN_TURN = 1024;

  private static final int FIRST_BYTES = 1 << 12;

  private final List<LineWriter> writers;
  private final Closeable end;
  private byte[] line = new byte[FIRST_BYTES];
  private int length;
  private long lines;
  private boolean closed;

  /** Closes the writers when it is closed, and {@code end} last. */
  LineStream(List<LineWriter> writers, Closeable end) {
    this.writers = writers;
    this.end = end;
  }

  /**
   * Into a table, which is made if it is not there. When the stream is closed, all its lines are in
   * the table's files.
   *
   * @param name tells this stream's lines from those of others
   */
  static LineStream into(Configuration conf, TableName table, String name) throws IOException {
    Tables tables = new Tables(conf);
    tables.create(table);
    boolean bulk = tables.settings().load() == TableSettings.Load.BULK;
    Path loaded = bulk ? Tables.directory(tables.conf(), table, "load-" + UUID.randomUUID()) : null;
    if (bulk) {
      Load.prepare(tables, loaded);
    }
    int regions = tables.regions(table).size();
    int apart = Tables.apart(tables.descriptor(table));
    List<LineWriter> writers = new ArrayList<>();
    for (int place = 0; place < regions; place++) {
      RowKeys keys = new RowKeys(RowKeys.number(name), place, regions);
      writers.add(
          bulk
              ? new FileWriter(conf, table, loaded, "part-" + place, keys, apart)
              : new PutWriter(tables.connection().getBufferedMutator(table), keys, apart));
    }
    return new LineStream(
        writers,
        () -> {
          try (tables) {
            if (bulk) {
              Load.finish(tables, table, loaded);
            }
            tables.settle(table);
          }
        });
  }

  @Override
  public void write(int single) throws IOException {
    write(new byte[] {(byte) single}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    int start = offset;
    for (int at = offset; at < offset + count; at++) {
      if (bytes[at] == '\n') {
        if (length == 0) {
          take(bytes, start, at - start);
        } else {
          hold(bytes, start, at - start);
          take(line, 0, length);
          length = 0;
        }
        start = at + 1;
      }
    }
    hold(bytes, start, offset + count - start);
  }

  private void hold(byte[] bytes, int offset, int count) {
    if (length + count > line.length) {
      line = Arrays.copyOf(line, Math.max(2 * line.length, length + count));
    }
    System.arraycopy(bytes, offset, line, length, count);
    length += count;
  }

  private void take(byte[] bytes, int offset, int count) throws IOException {
    int turn = (int) (lines++ / LINES_IN_TURN % writers.size());
    writers.get(turn).write(bytes, offset, count);
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (length > 0) {
      take(line, 0, length);
    }
    for (LineWriter writer : writers) {
      writer.close();
    }
    end.close();
  }
}

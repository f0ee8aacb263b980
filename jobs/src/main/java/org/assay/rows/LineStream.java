package org.assay.rows;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;

/**
 * Cuts a stream of bytes into lines, which go to all regions of a table in turn, some at a time.
 */
public final class LineStream extends OutputStream {
  static final int LINES_IN_TURN = 1024;

  private static final int FIRST_BYTES = 1 << 12;

  private final List<LineWriter> writers;
  private final Closeable end;
  private byte[] line = new byte[FIRST_BYTES];
  private int length;
  private long lines;
  private boolean closed;

  /** Closes the writers when it is closed, and {@code end} last. */
  public LineStream(List<LineWriter> writers, Closeable end) {
    this.writers = writers;
    this.end = end;
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

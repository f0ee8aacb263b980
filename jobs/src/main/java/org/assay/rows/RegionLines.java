package org.assay.rows;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.io.Text;

/** The lines of a region as the bytes of a text file. */
final class RegionLines extends FSInputStream {
  private static final byte[] END = {'\n'};

  private final RowSource rows;
  private final String table;
  private final Region region;
  private final boolean divided;
  private final Text line = new Text();
  private Rows scan;
  private int at;
  private long position;

  /**
   * Of a region.
   *
   * @param divided whether the table has columns of its lines apart
   */
  RegionLines(RowSource rows, String table, Region region, boolean divided) {
    this.rows = rows;
    this.table = table;
    this.region = region;
    this.divided = divided;
  }

  @Override
  public int read() throws IOException {
    byte[] single = new byte[1];
    return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int count) throws IOException {
    if (count == 0) {
      return 0;
    }
    int filled = 0;
    while (filled < count && (at < line.getLength() || fetch())) {
      int copied = Math.min(count - filled, line.getLength() - at);
      System.arraycopy(line.getBytes(), at, bytes, offset + filled, copied);
      at += copied;
      filled += copied;
    }
    position += filled;
    return filled == 0 ? -1 : filled;
  }

  /** Gets the next line, with its end. */
  private boolean fetch() throws IOException {
    if (scan == null) {
      scan = rows.scan(table, region.start, region.stop, divided);
    }
    at = 0;
    if (!scan.next(line)) {
      line.clear();
      return false;
    }
    line.append(END, 0, END.length);
    return true;
  }

  @Override
  public long getPos() {
    return position;
  }

  /** What lies before is read again. */
  @Override
  public void seek(long wanted) throws IOException {
    if (wanted < position) {
      endScan();
      line.clear();
      at = 0;
      position = 0;
    }
    while (position < wanted) {
      if (skip(wanted - position) == 0) {
        throw new EOFException("a region of " + table + " ends at " + position);
      }
    }
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  private void endScan() throws IOException {
    if (scan != null) {
      scan.close();
      scan = null;
    }
  }

  @Override
  public void close() throws IOException {
    endScan();
  }
}

package org.assay.hbase;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** The lines of a region as the bytes of a text file. */
final class RegionLines extends FSInputStream {
  private final Table table;
  private final RegionInfo region;
  private ResultScanner scanner;
  private boolean divided;
  private byte[] line = new byte[0];
  private int at;
  private long position;

  /** Closes the table when it is closed. */
  RegionLines(Table table, RegionInfo region) {
    this.table = table;
    this.region = region;
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
    while (filled < count && (at < line.length || fetch())) {
      int copied = Math.min(count - filled, line.length - at);
      System.arraycopy(line, at, bytes, offset + filled, copied);
      at += copied;
      filled += copied;
    }
    position += filled;
    return filled == 0 ? -1 : filled;
  }

  /** Gets the next line, with its end. */
  private boolean fetch() throws IOException {
    if (scanner == null) {
      divided = Tables.apart(table.getDescriptor()) > 0;
      Scan all = Tables.scan(divided);
      scanner =
          table.getScanner(all.withStartRow(region.getStartKey()).withStopRow(region.getEndKey()));
    }
    Result row = scanner.next();
    if (row == null) {
      return false;
    }
    byte[] value = CellUtil.cloneValue(RowReader.cell(row, Tables.FAMILY, Tables.LINE));
    byte[] rest =
        divided
            ? CellUtil.cloneValue(RowReader.cell(row, Tables.REST_FAMILY, Tables.REST))
            : new byte[0];
    line = Bytes.add(value, rest, new byte[] {'\n'});
    at = 0;
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
      line = new byte[0];
      at = 0;
      position = 0;
    }
    while (position < wanted) {
      if (skip(wanted - position) == 0) {
        throw new EOFException("region " + region.getEncodedName() + " ends at " + position);
      }
    }
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  private void endScan() {
    if (scanner != null) {
      scanner.close();
      scanner = null;
    }
  }

  @Override
  public void close() throws IOException {
    endScan();
    table.close();
  }
}

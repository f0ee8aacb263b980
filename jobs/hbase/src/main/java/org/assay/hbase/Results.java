package org.assay.hbase;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.Text;
import org.assay.rows.Rows;

/** Rows as HBase gives them. */
final class Results implements Rows {
  /** Gives rows until there are no more: null. */
  interface Source {
    Result next() throws IOException;
  }

  private final Source source;
  private final Closeable end;
  private final boolean rest;

  /** Closes {@code end} when it is closed. */
  Results(Source source, Closeable end, boolean rest) {
    this.source = source;
    this.end = end;
    this.rest = rest;
  }

  @Override
  public boolean next(Text line) throws IOException {
    Result row = source.next();
    if (row == null) {
      return false;
    }
    Cell cell = cell(row, Tables.FAMILY, Tables.LINE);
    line.set(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
    if (rest) {
      Cell further = cell(row, Tables.REST_FAMILY, Tables.REST);
      line.append(further.getValueArray(), further.getValueOffset(), further.getValueLength());
    }
    return true;
  }

  /**
   * A row has one or two cells: to compare them takes less time than HBase's own search does.
   *
   * @throws IOException for a row without it, which is not whole
   */
  private static Cell cell(Result row, byte[] family, byte[] column) throws IOException {
    for (Cell cell : row.rawCells()) {
      if (CellUtil.matchingColumn(cell, family, column)) {
        return cell;
      }
    }
    throw new IOException(
        "row "
            + row
            + " has lost "
            + Bytes.toString(family)
            + ":"
            + Bytes.toString(column)
            + ", or was not written by this module");
  }

  @Override
  public void close() throws IOException {
    end.close();
  }
}

package org.assay.hbase;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Put;
import org.assay.rows.LineColumns;
import org.assay.rows.LineWriter;
import org.assay.rows.RowKeys;

/**
 * Puts lines through the region servers, which log them; puts are buffered as HBase's client does.
 */
final class PutWriter implements LineWriter {
  private final BufferedMutator table;
  private final RowKeys keys;
  private final int apart;

  /**
   * Closes the table when it is closed.
   *
   * @param apart how many columns the table has apart from the others; 0 if it keeps lines whole
   */
  PutWriter(BufferedMutator table, RowKeys keys, int apart) {
    this.table = table;
    this.keys = keys;
    this.apart = apart;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int first = apart > 0 ? LineColumns.length(bytes, offset, length, apart) : length;
    byte[] line = Arrays.copyOfRange(bytes, offset, offset + first);
    Put put = new Put(keys.next()).addColumn(Tables.FAMILY, Tables.LINE, line);
    if (apart > 0) { // also where nothing follows: a row without it has lost it
      byte[] rest = Arrays.copyOfRange(bytes, offset + first, offset + length);
      put.addColumn(Tables.REST_FAMILY, Tables.REST, rest);
    }
    table.mutate(put);
  }

  @Override
  public void close() throws IOException {
    table.close();
  }
}

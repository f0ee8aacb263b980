package org.assay.hbase;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Put;

/**
 * Puts lines through the region servers, which log them; puts are buffered as HBase's client does.
 */
final class PutWriter implements LineWriter {
  private final BufferedMutator table;
  private final RowKeys keys;

  /** Closes the table when it is closed. */
  PutWriter(BufferedMutator table, RowKeys keys) {
    this.table = table;
    this.keys = keys;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    byte[] line = Arrays.copyOfRange(bytes, offset, offset + length);
    table.mutate(new Put(keys.next()).addColumn(Tables.FAMILY, Tables.LINE, line));
  }

  @Override
  public void close() throws IOException {
    table.close();
  }
}

package org.assay.redis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.assay.rows.LineWriter;

/** Puts lines in batches, each by one command, and says at the end how many they were. */
final class PutWriter implements LineWriter {
  private static final long BATCH_BYTES = 1L << 20;

  /** Puts names, each with a line after it. */
  interface Put {
    void pairs(byte[][] pairs) throws IOException;
  }

  /** Is told how many lines there are, and their bytes, with their ends. */
  interface Counted {
    void as(long rows, long bytes) throws IOException;
  }

  private final Supplier<byte[]> names;
  private final Put put;
  private final Counted counted;
  private final List<byte[]> batch = new ArrayList<>();
  private long batchBytes;
  private long rows;
  private long bytes;

  /** {@code names} are those of rows that follow each other. */
  PutWriter(Supplier<byte[]> names, Put put, Counted counted) {
    this.names = names;
    this.put = put;
    this.counted = counted;
  }

  @Override
  public void write(byte[] given, int offset, int length) throws IOException {
    batch.add(names.get());
    batch.add(Arrays.copyOfRange(given, offset, offset + length));
    batchBytes += length + 1;
    rows++;
    bytes += length + 1;
    if (batch.size() == 2 * Tables.BATCH_LINES || batchBytes >= BATCH_BYTES) {
      send();
    }
  }

  private void send() throws IOException {
    put.pairs(batch.toArray(new byte[0][]));
    batch.clear();
    batchBytes = 0;
  }

  @Override
  public void close() throws IOException {
    if (!batch.isEmpty()) {
      send();
    }
    counted.as(rows, bytes);
  }
}

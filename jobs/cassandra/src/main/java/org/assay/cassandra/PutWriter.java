package org.assay.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.assay.rows.LineWriter;

/** Puts lines, many of which are on their way at once, and says at the end how many they were. */
final class PutWriter implements LineWriter {
  static final int IN_FLIGHT = 256;

  /** Is told how many lines there are, and how many bytes with their ends. */
  interface Counted {
    void as(long rows, long bytes) throws IOException;
  }

  private final Function<ByteBuffer, CompletionStage<?>> put;
  private final Counted counted;
  private final Semaphore free = new Semaphore(IN_FLIGHT);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private long rows;
  private long bytes;

  /** Sends lines by {@code put}. */
  PutWriter(Function<ByteBuffer, CompletionStage<?>> put, Counted counted) {
    this.put = put;
    this.counted = counted;
  }

  @Override
  public void write(byte[] given, int offset, int length) throws IOException {
    take(1);
    byte[] line = Arrays.copyOfRange(given, offset, offset + length);
    Servers.asked(() -> put.apply(ByteBuffer.wrap(line)))
        .whenComplete(
            (done, error) -> {
              if (error != null) {
                failure.compareAndSet(null, error);
              }
              free.release();
            });
    rows++;
    bytes += length + 1;
  }

  /** Waits until so many further lines may be on their way. */
  private void take(int lines) throws IOException {
    free.acquireUninterruptibly(lines);
    Throwable failed = failure.get();
    if (failed != null) {
      throw new IOException("lines can't be put into Cassandra: " + failed.getMessage(), failed);
    }
  }

  @Override
  public void close() throws IOException {
    take(IN_FLIGHT);
    counted.as(rows, bytes);
  }
}

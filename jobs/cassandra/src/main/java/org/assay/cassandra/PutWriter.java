package org.assay.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
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
  private final Queue<CompletionStage<?>> onTheirWay = new ArrayDeque<>();
  private long rows;
  private long bytes;

  /** Sends lines by {@code put}. */
  PutWriter(Function<ByteBuffer, CompletionStage<?>> put, Counted counted) {
    this.put = put;
    this.counted = counted;
  }

  @Override
  public void write(byte[] given, int offset, int length) throws IOException {
    await(IN_FLIGHT - 1);
    onTheirWay.add(put.apply(ByteBuffer.wrap(Arrays.copyOfRange(given, offset, offset + length))));
    rows++;
    bytes += length + 1;
  }

  /** Waits until so many lines are on their way at most. */
  private void await(int lines) throws IOException {
    while (onTheirWay.size() > lines) {
      Servers.asked(onTheirWay.remove().toCompletableFuture()::join);
    }
  }

  @Override
  public void close() throws IOException {
    await(0);
    counted.as(rows, bytes);
  }
}

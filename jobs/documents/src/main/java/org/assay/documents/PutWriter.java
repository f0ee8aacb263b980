package org.assay.documents;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assay.rows.LineWriter;
import org.assay.rows.RowKeys;
import org.bson.Document;
import org.bson.types.Binary;

/**
 * Puts lines in batches, of which one is on its way while the next is filled, and says at the end
 * how many they were. A batch is of one collection.
 */
final class PutWriter implements LineWriter {
  static final int BATCH_LINES = 1024;

  private static final long BATCH_BYTES = 4L << 20;

  /** Puts documents into a writer's collection with its row of a number. */
  interface Put {
    void into(long row, List<Document> documents);
  }

  /** Is told how many lines there are, and the bytes of each collection's, with their ends. */
  interface Counted {
    void as(long rows, List<Long> bytes) throws IOException;
  }

  private final RowKeys keys;
  private final Put put;
  private final Counted counted;
  private final List<Long> bytes = new ArrayList<>();
  private List<Document> batch = new ArrayList<>();
  private CompletableFuture<Void> onItsWay = CompletableFuture.completedFuture(null);
  private long batchBytes;
  private long collectionBytes;
  private long rows;

  PutWriter(RowKeys keys, Put put, Counted counted) {
    this.keys = keys;
    this.put = put;
    this.counted = counted;
  }

  @Override
  public void write(byte[] given, int offset, int length) throws IOException {
    byte[] line = Arrays.copyOfRange(given, offset, offset + length);
    batch.add(new Document("_id", Tables.id(keys.next())).append("line", new Binary(line)));
    rows++;
    batchBytes += length + 1;
    collectionBytes += length + 1;
    if (rows % Tables.LINES == 0) {
      send();
      endCollection();
    } else if (batch.size() == BATCH_LINES || batchBytes >= BATCH_BYTES) {
      send();
    }
  }

  private void send() throws IOException {
    Servers.asked(onItsWay::join);
    List<Document> full = batch;
    long last = rows - 1;
    onItsWay = CompletableFuture.runAsync(() -> put.into(last, full));
    batch = new ArrayList<>();
    batchBytes = 0;
  }

  private void endCollection() {
    bytes.add(collectionBytes);
    collectionBytes = 0;
  }

  @Override
  public void close() throws IOException {
    if (!batch.isEmpty()) {
      send();
    }
    if (collectionBytes > 0) {
      endCollection();
    }
    Servers.asked(onItsWay::join);
    counted.as(rows, bytes);
  }
}

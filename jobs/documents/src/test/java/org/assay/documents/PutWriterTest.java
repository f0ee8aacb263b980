package org.assay.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.MongoException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.assay.rows.RowKeys;
import org.bson.Document;
import org.junit.jupiter.api.Test;

class PutWriterTest {
  private final RowKeys keys = new RowKeys(7, 1, 2);
  private final List<String> put = Collections.synchronizedList(new ArrayList<>());
  private List<Long> counted;
  private long rows;

  private PutWriter writer(PutWriter.Put put) {
    return new PutWriter(
        keys,
        put,
        (rowsPut, bytes) -> {
          rows = rowsPut;
          counted = List.copyOf(bytes);
        });
  }

  private void keep(long row, List<Document> documents) {
    put.add(row / Tables.LINES + ": " + documents.size());
  }

  private static void write(PutWriter writer, String line) throws IOException {
    byte[] bytes = (line + "~").getBytes(StandardCharsets.UTF_8);
    writer.write(bytes, 0, bytes.length - 1);
    Arrays.fill(bytes, (byte) 0); // the array is the caller's again
  }

  @Test
  void aBatchIsOfOneCollectionAndLinesAreCountedWhenAllAreThere() throws IOException {
    PutWriter writer = writer(this::keep);
    for (int line = 0; line < Tables.LINES + 3; line++) {
      write(writer, "1234567");
    }
    assertNull(counted);
    writer.close();
    int batches = Tables.LINES / PutWriter.BATCH_LINES;
    List<String> expected =
        new ArrayList<>(Collections.nCopies(batches, "0: " + PutWriter.BATCH_LINES));
    expected.add("1: 3");
    assertEquals(expected, put);
    assertEquals(Tables.LINES + 3, rows);
    assertEquals(List.of(8L * Tables.LINES, 24L), counted);
  }

  @Test
  void longLinesAreInSmallerBatches() throws IOException {
    PutWriter writer = writer(this::keep);
    for (int line = 0; line < 5; line++) {
      write(writer, "x".repeat(3 << 20));
    }
    writer.close();
    assertEquals(List.of("0: 2", "0: 2", "0: 1"), put);
  }

  @Test
  void aDocumentHasAKeyThatIsInOrderAndTheLineAsItWas() throws IOException {
    List<Document> documents = new ArrayList<>();
    PutWriter writer = writer((row, some) -> documents.addAll(some));
    write(writer, "");
    write(writer, "länger");
    writer.close();
    byte[] first = RowKeys.key(keys.writer(), 0);
    byte[] second = RowKeys.key(keys.writer(), 1);
    assertEquals(0, Tables.line("runs.input", first, documents.get(0)).length);
    assertEquals("länger", Text.decode(Tables.line("runs.input", second, documents.get(1))));
    assertThrows(IOException.class, () -> Tables.line("t", first, documents.get(1)));
    assertThrows(IOException.class, () -> Tables.line("t", first, null));
  }

  @Test
  void whatCanNotBePutIsSaidAndNotCounted() throws IOException {
    PutWriter writer =
        writer(
            (row, documents) -> {
              throw new MongoException("database or disk is full");
            });
    write(writer, "one");
    Exception failed = assertThrows(IOException.class, writer::close);
    assertEquals("FerretDB: database or disk is full", failed.getMessage());
    assertNull(counted);
  }
}

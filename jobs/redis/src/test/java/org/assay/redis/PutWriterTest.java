package org.assay.redis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.Test;

class PutWriterTest {
  private final RowKeys keys = new RowKeys(7, 1, 2);
  private final List<byte[][]> put = new ArrayList<>();
  private String counted;

  private PutWriter writer(PutWriter.Put put) {
    return new PutWriter(
        () -> Tables.name("t", keys.next()), put, (rows, bytes) -> counted = rows + " " + bytes);
  }

  private static void write(PutWriter writer, String line) throws IOException {
    byte[] bytes = (line + "~").getBytes(StandardCharsets.UTF_8);
    writer.write(bytes, 0, bytes.length - 1);
    Arrays.fill(bytes, (byte) 0); // the array is the caller's again
  }

  private List<Integer> lines() {
    List<Integer> lines = new ArrayList<>();
    put.forEach(pairs -> lines.add(pairs.length / 2));
    return lines;
  }

  @Test
  void linesAreCountedWhenAllAreThere() throws IOException {
    PutWriter writer = writer(put::add);
    for (int line = 0; line < 2 * Tables.BATCH_LINES + 3; line++) {
      write(writer, "1234567");
    }
    assertNull(counted);
    writer.close();
    assertEquals(List.of(Tables.BATCH_LINES, Tables.BATCH_LINES, 3), lines());
    assertEquals("1003 8024", counted);
  }

  @Test
  void longLinesAreInSmallerBatches() throws IOException {
    PutWriter writer = writer(put::add);
    for (int line = 0; line < 5; line++) {
      write(writer, String.join("", Collections.nCopies(600_000, "x")));
    }
    writer.close();
    assertEquals(List.of(2, 2, 1), lines());
  }

  @Test
  void aLineIsUnderTheNextNameAsItWas() throws IOException {
    PutWriter writer = writer(put::add);
    write(writer, "");
    write(writer, "länger");
    writer.close();
    byte[][] pairs = put.get(0);
    assertArrayEquals(Tables.name("t", RowKeys.key(keys.writer(), 0)), pairs[0]);
    assertEquals(0, pairs[1].length);
    assertArrayEquals(Tables.name("t", RowKeys.key(keys.writer(), 1)), pairs[2]);
    assertEquals("länger", new String(pairs[3], StandardCharsets.UTF_8));
  }

  @Test
  void aWriterWithoutLinesHasNone() throws IOException {
    writer(put::add).close();
    assertEquals(List.of(), lines());
    assertEquals("0 0", counted);
  }

  @Test
  void whatCanNotBePutIsSaidAndNotCounted() throws IOException {
    PutWriter writer =
        writer(
            pairs -> {
              throw new IOException("out of memory");
            });
    write(writer, "one");
    assertEquals("out of memory", assertThrows(IOException.class, writer::close).getMessage());
    assertNull(counted);
  }
}

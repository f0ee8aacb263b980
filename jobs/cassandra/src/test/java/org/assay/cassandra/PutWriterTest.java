package org.assay.cassandra;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class PutWriterTest {
  private final List<String> put = new ArrayList<>();
  private final long[] counted = {-1, -1};

  private PutWriter writer(CompletionStage<?> answer) {
    return new PutWriter(
        line -> {
          put.add(StandardCharsets.UTF_8.decode(line).toString());
          return answer;
        },
        (rows, bytes) -> {
          counted[0] = rows;
          counted[1] = bytes;
        });
  }

  private static void write(PutWriter writer, String line) throws IOException {
    byte[] bytes = (line + "~").getBytes(StandardCharsets.UTF_8);
    writer.write(bytes, 0, bytes.length - 1);
    ByteBuffer.wrap(bytes).put(new byte[bytes.length]); // the array is the caller's again
  }

  @Test
  void linesAreCountedWithTheirEndsWhenAllAreThere() throws IOException {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    PutWriter writer = writer(answer);
    write(writer, "one");
    write(writer, "");
    write(writer, "länger");
    assertArrayEquals(new long[] {-1, -1}, counted);
    answer.complete(null);
    writer.close();
    assertEquals(List.of("one", "", "länger"), put);
    assertArrayEquals(new long[] {3, 4 + 1 + 8}, counted);
  }

  @Test
  void whatCanNotBePutIsNoLineAndIsNotCounted() throws IOException {
    PutWriter writer = writer(CompletableFuture.failedFuture(new IOException("no node")));
    for (int line = 0; line < PutWriter.IN_FLIGHT; line++) {
      write(writer, "one");
    }
    assertThrows(IOException.class, () -> write(writer, "one too many"));
    assertEquals(PutWriter.IN_FLIGHT, put.size());
    Exception failed = assertThrows(IOException.class, writer::close);
    assertEquals("Cassandra: no node", failed.getMessage());
    assertArrayEquals(new long[] {-1, -1}, counted);
  }
}

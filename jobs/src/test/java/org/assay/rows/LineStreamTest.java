package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineStreamTest {
  private static final class Collected implements LineWriter {
    final List<String> lines = new ArrayList<>();
    boolean closed;

    @Override
    public void write(byte[] bytes, int offset, int length) {
      lines.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private static List<String> cut(String text, int mostBytes) throws IOException {
    Collected collected = new Collected();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    Random random = new Random(mostBytes);
    try (LineStream stream = new LineStream(List.of(collected), () -> {})) {
      for (int at = 0; at < bytes.length; ) {
        int count = Math.min(bytes.length - at, 1 + random.nextInt(mostBytes));
        stream.write(bytes, at, count);
        at += count;
      }
    }
    return collected.lines;
  }

  @Test
  void linesAreCutWhereverTheBytesAre() throws IOException {
    String lengthy = "ä".repeat(5000);
    String text = "a b\n\n" + lengthy + "\nlast\n";
    for (int mostBytes : new int[] {1, 2, 7, 5000, 100_000}) {
      assertEquals(List.of("a b", "", lengthy, "last"), cut(text, mostBytes));
      assertEquals(List.of("a b", "", lengthy, "last"), cut(text.stripTrailing(), mostBytes));
    }
    assertEquals(List.of(), cut("", 1));
  }

  @Test
  void allWritersTakeTheirTurnAndAreClosedBeforeTheEnd() throws IOException {
    List<Collected> all = List.of(new Collected(), new Collected(), new Collected());
    boolean[] ended = new boolean[1];
    int lines = 7 * LineStream.LINES_IN_TURN;
    try (LineStream stream =
        new LineStream(
            new ArrayList<>(all),
            () -> {
              assertTrue(all.stream().allMatch(writer -> writer.closed));
              ended[0] = true;
            })) {
      for (int i = 0; i < lines; i++) {
        stream.write((i + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
    assertTrue(ended[0]);
    assertEquals(3 * LineStream.LINES_IN_TURN, all.get(0).lines.size());
    assertEquals(2 * LineStream.LINES_IN_TURN, all.get(1).lines.size());
    assertEquals(lines, all.stream().mapToInt(writer -> writer.lines.size()).sum());
  }
}

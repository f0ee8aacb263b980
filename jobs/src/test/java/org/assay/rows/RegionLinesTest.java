package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A region's lines as a file's bytes. */
class RegionLinesTest {
  private static RegionLines lines(String... lines) {
    TreeMap<byte[], String> rows = new TreeMap<>(Arrays::compareUnsigned);
    RowKeys keys = new RowKeys(1, 0, 1);
    List.of(lines).forEach(line -> rows.put(keys.next(), line));
    Region all = new Region(new byte[0], new byte[0]);
    return new RegionLines(new LinesInMemory(rows), "runs.input", all, false);
  }

  @Test
  void everyLineHasItsEndAndEmptyOnesAreLinesToo() throws IOException {
    try (RegionLines read = lines("b", "", "länger")) {
      assertEquals("b\n\nlänger\n", new String(read.readAllBytes(), StandardCharsets.UTF_8));
      assertEquals(-1, read.read());
      assertEquals(11, read.getPos());
    }
    try (RegionLines read = lines()) {
      assertEquals(-1, read.read());
    }
  }

  @Test
  void whatLiesBeforeIsReadAgain() throws IOException {
    try (RegionLines read = lines("one", "two")) {
      assertEquals("one\ntwo\n", new String(read.readAllBytes(), StandardCharsets.UTF_8));
      read.seek(4);
      assertEquals('t', read.read());
      assertEquals(5, read.getPos());
      assertThrows(EOFException.class, () -> read.seek(9));
    }
  }
}

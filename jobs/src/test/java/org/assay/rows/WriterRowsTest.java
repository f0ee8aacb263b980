package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.Test;

class WriterRowsTest {
  private final TreeMap<byte[], String> rows = new TreeMap<>(Arrays::compareUnsigned);
  private final byte[] writer = new RowKeys(7, 2, 3).writer();

  private List<String> read(long first, long end) throws IOException {
    List<String> lines = new ArrayList<>();
    Text line = new Text();
    try (WriterRows read =
        new WriterRows(
            new LinesInMemory(rows), "t", RowKeys.key(writer, first), RowKeys.key(writer, end))) {
      while (read.next(line)) {
        lines.add(line.toString());
      }
    }
    return lines;
  }

  @Test
  void rowsComeInTheOrderOfTheirKeysHoweverManyThereAre() throws IOException {
    List<String> all = new ArrayList<>();
    for (int row = 0; row < 2 * RowReader.GETS + 1; row++) {
      rows.put(RowKeys.key(writer, row), "line " + row);
      all.add("line " + row);
    }
    assertEquals(all, read(0, all.size()));
    assertEquals(all.subList(3, RowReader.GETS + 3), read(3, RowReader.GETS + 3));
    assertEquals(List.of(), read(3, 3));
    assertThrows(IOException.class, () -> read(0, all.size() + 1));
  }
}

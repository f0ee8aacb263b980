package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.Text;
import org.assay.rows.Rows;
import org.junit.jupiter.api.Test;

/** Lines of a table that has their first columns apart. */
class ResultsTest {
  private final RowsInMemory rows = new RowsInMemory();

  private static KeyValue line(String key, String value) {
    return new KeyValue(Bytes.toBytes(key), Tables.FAMILY, Tables.LINE, Bytes.toBytes(value));
  }

  private static KeyValue rest(String key, String value) {
    return new KeyValue(Bytes.toBytes(key), Tables.REST_FAMILY, Tables.REST, Bytes.toBytes(value));
  }

  private Tables tables() throws IOException {
    return new Tables(rows.connection());
  }

  private static List<String> lines(Rows read) throws IOException {
    List<String> lines = new ArrayList<>();
    Text line = new Text();
    while (read.next(line)) {
      lines.add(line.toString());
    }
    return lines;
  }

  private List<String> scanned(boolean rest) throws IOException {
    return lines(tables().scan("runs.input", new byte[0], new byte[0], rest));
  }

  @Test
  void whatFollowsTheFirstColumnsIsPutBehindThem() throws IOException {
    rows.add(line("a", "1,2"), rest("a", ",3"));
    rows.add(line("b", "4"), rest("b", ""));
    assertEquals(List.of("1,2,3", "4"), scanned(true));
    List<byte[]> second = List.of(Bytes.toBytes("b"));
    assertEquals(List.of("4"), lines(tables().get("runs.input", second, true)));
    assertEquals(List.of("1,2", "4"), scanned(false));
  }

  @Test
  void aRowThatHasLostItsFirstColumnsIsNoShorterLine() {
    rows.add(rest("a", ",3"));
    Exception lost = assertThrows(IOException.class, () -> scanned(true));
    assertTrue(lost.getMessage().contains("has lost d:l"), lost.getMessage());
  }

  @Test
  void aRowThatHasLostTheRestIsNoShorterLine() {
    rows.add(line("a", "1,2"));
    Exception lost = assertThrows(IOException.class, () -> scanned(true));
    assertTrue(lost.getMessage().contains("has lost r:r"), lost.getMessage());
  }

  @Test
  void aRowThatIsAskedForAndNotThereIsMissed() {
    rows.add(line("a", "1"));
    List<byte[]> keys = List.of(Bytes.toBytes("a"), Bytes.toBytes("b"));
    Exception lost = assertThrows(IOException.class, () -> tables().get("runs.input", keys, false));
    assertEquals("table runs.input has lost row b", lost.getMessage());
  }
}

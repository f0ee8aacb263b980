package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lines of a table that has their first columns apart. */
class RegionLinesTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");

  private final Configuration conf = new Configuration(false);
  private RowsInMemory rows;

  @BeforeEach
  void makeTable() {
    conf.set(TableSettings.COLUMNS, "used-apart");
    conf.setInt(TableSettings.USED, 2);
    TableDescriptor divided = Tables.descriptor(TABLE, new TableSettings(conf));
    rows = new RowsInMemory(divided);
  }

  private static KeyValue line(String key, String value) {
    return new KeyValue(Bytes.toBytes(key), Tables.FAMILY, Tables.LINE, Bytes.toBytes(value));
  }

  private static KeyValue rest(String key, String value) {
    return new KeyValue(Bytes.toBytes(key), Tables.REST_FAMILY, Tables.REST, Bytes.toBytes(value));
  }

  private String read() throws IOException {
    RegionLines lines = new RegionLines(rows.table(), RegionInfoBuilder.newBuilder(TABLE).build());
    return new String(lines.readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void whatFollowsTheFirstColumnsIsPutBehindThem() throws IOException {
    rows.add(line("a", "1,2"), rest("a", ",3"));
    rows.add(line("b", "4"), rest("b", ""));
    assertEquals("1,2,3\n4\n", read());
  }

  @Test
  void aRowThatHasLostAFamilyIsNoShorterLine() {
    rows.add(line("a", "1,2"));
    Exception lost = assertThrows(IOException.class, this::read);
    assertTrue(lost.getMessage().contains("has lost r:r"), lost.getMessage());
    makeTable();
    rows.add(rest("a", ",3"));
    lost = assertThrows(IOException.class, this::read);
    assertTrue(lost.getMessage().contains("has lost d:l"), lost.getMessage());
  }
}

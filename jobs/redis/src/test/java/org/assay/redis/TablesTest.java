package org.assay.redis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.StringUtils;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.Test;

class TablesTest {
  private static final byte[] WRITER = new RowKeys(3, 1, 2).writer();

  @Test
  void aRowHasTheTablesNameAndItsKey() {
    byte[] name = Tables.name("runs.input", RowKeys.key(WRITER, 5));
    assertEquals("72756e732e696e7075742f800000000003" + "0000000000000005", hex(name));
  }

  private static String hex(byte[] bytes) {
    return StringUtils.byteToHexString(bytes);
  }

  @Test
  void whatAWriterHasCountedIsARunOfItsRows() {
    RegionRows.Run run = Tables.run(hex(WRITER), "20 512");
    assertArrayEquals(WRITER, run.writer);
    assertEquals(0, run.first);
    assertEquals(20, run.rows);
    assertEquals(512, run.bytes);
  }

  @Test
  void aRowThatIsNotThereIsLost() throws IOException {
    byte[] line = {};
    byte[] key = RowKeys.key(WRITER, 5);
    assertSame(line, Tables.there("runs.input", key, line));
    Exception lost = assertThrows(IOException.class, () -> Tables.there("runs.input", key, null));
    assertEquals("table runs.input has lost the row " + hex(key), lost.getMessage());
  }

  @Test
  void serversAreThoseThatAreNamed() {
    Configuration conf = new Configuration(false);
    assertThrows(IllegalArgumentException.class, () -> new Tables(conf));
    conf.set(Servers.ADDRESSES, "127.0.0.1:6379, worker-2:6380");
    assertEquals("[127.0.0.1:6379, worker-2:6380]", Servers.addresses(conf).toString());
  }

  @Test
  void aServerThatDoesNotAnswerIsNamed() throws IOException {
    Configuration conf = new Configuration(false);
    String address;
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = "127.0.0.1:" + taken.getLocalPort();
    }
    conf.set(Servers.ADDRESSES, address);
    Exception failed = assertThrows(IOException.class, () -> new Tables(conf).names());
    assertTrue(failed.getMessage().startsWith("Redis at " + address + ": "), failed.getMessage());
  }

  @Test
  void pathsOfItsSchemeAreInItsFileSystem() throws Exception {
    assertEquals(
        TableFileSystem.class, FileSystem.getFileSystemClass("redis", new Configuration()));
  }
}

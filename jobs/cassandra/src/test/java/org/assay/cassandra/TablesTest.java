package org.assay.cassandra;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TablesTest {
  @TempDir Path directory;

  @Test
  void everyTableHasANameThatCassandraTakes() {
    String deep = "user.someone.assay." + "deeper.".repeat(20) + "input";
    assertTrue(Tables.id(deep).matches("t[0-9a-f]{32}"));
    assertNotEquals(Tables.id("runs.input"), Tables.id("runs.output"));
    assertEquals(Tables.id("runs.input"), Tables.id("runs.input"));
  }

  @Test
  void theEndsOfARangeAreNoKeys() {
    for (long token : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
      assertFalse(RowKeys.isKey(Tables.end(token)));
      assertEquals(token, ByteBuffer.wrap(Tables.end(token)).getLong());
    }
  }

  @Test
  void aWritersLinesAreFromItsFirstKeyUpToTheOneThatItWouldGiveNext() {
    RowKeys keys = new RowKeys(3, 1, 2);
    Tables.Written region = new Tables.Written(new RegionRows.Run(keys.writer(), 0, 2, 20));
    assertArrayEquals(keys.next(), region.start);
    keys.next();
    assertArrayEquals(keys.next(), region.stop);
    assertEquals(20, region.bytes);
  }

  @Test
  void nodesAreThoseThatAreNamed() {
    Configuration conf = new Configuration(false);
    assertThrows(IllegalArgumentException.class, () -> Servers.contacts(conf));
    conf.set(Servers.CONTACTS, "127.0.0.1:9042, 127.0.0.2:9043");
    List<String> named = new ArrayList<>();
    Servers.contacts(conf).forEach(node -> named.add(node.getHostString() + " " + node.getPort()));
    assertEquals(List.of("127.0.0.1 9042", "127.0.0.2 9043"), named);
  }

  @Test
  void pathsOfItsSchemeAreInItsFileSystem() throws Exception {
    assertEquals(
        TableFileSystem.class, FileSystem.getFileSystemClass("cassandra", new Configuration()));
  }

  @Test
  void keyspacesLieInTheFoldersThatAreNamed() throws Exception {
    Path data = directory.resolve("data");
    Path folder = directory.resolve("disk/assay_input");
    String[] arguments = {"storage", "assay_input=" + folder};
    CassandraServer.link(data, arguments);
    Files.writeString(data.resolve("assay_input").resolve("a"), "1");
    assertEquals("1", Files.readString(folder.resolve("a")));
  }
}

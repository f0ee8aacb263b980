package org.assay.documents;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.RunRegion;
import org.bson.Document;
import org.junit.jupiter.api.Test;

class TablesTest {
  @Test
  void idsAreInTheOrderOfKeys() {
    byte[] writer = new RowKeys(-1, 1, 2).writer();
    String before = Tables.id(RowKeys.key(writer, 9));
    for (long row : new long[] {10, 255, 256, 1L << 40}) {
      String id = Tables.id(RowKeys.key(writer, row));
      assertTrue(before.compareTo(id) < 0);
      before = id;
    }
  }

  @Test
  void aWritersCollectionsAreFullButForTheLast() {
    RowKeys keys = new RowKeys(3, 1, 2);
    long rows = 2L * Tables.LINES + 5;
    Document entry = new Document("_id", Tables.id(keys.writer()));
    entry.append("rows", rows).append("bytes", List.of(100L, 200L, 50L));
    List<RegionRows.Run> runs = Tables.runs(entry);
    assertEquals(3, runs.size());
    long reached = 0;
    for (RegionRows.Run run : runs) {
      assertArrayEquals(keys.writer(), run.writer);
      assertEquals(reached, run.first);
      reached += run.rows;
    }
    assertEquals(rows, reached);
    assertEquals(5, runs.get(2).rows);
    RunRegion region = new RunRegion(runs.get(2), "worker-1");
    assertEquals(2L * Tables.LINES, RowKeys.count(region.start));
    assertEquals(rows, RowKeys.count(region.stop));
  }

  @Test
  void serversAreThoseThatAreNamed() {
    Configuration conf = new Configuration(false);
    assertThrows(IllegalArgumentException.class, () -> Servers.addresses(conf));
    conf.set(Servers.ADDRESSES, "127.0.0.1:27017, worker-2:27018");
    assertEquals("[127.0.0.1:27017, worker-2:27018]", Servers.addresses(conf).toString());
  }

  @Test
  void pathsOfItsSchemeAreInItsFileSystem() throws Exception {
    assertEquals(
        TableFileSystem.class, FileSystem.getFileSystemClass("documents", new Configuration()));
  }
}

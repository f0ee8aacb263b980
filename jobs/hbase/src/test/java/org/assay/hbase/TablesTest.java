package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked of HBase's master, which knows some tables and the names of some snapshots. */
class TablesTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");

  @TempDir java.nio.file.Path directory;

  private final Map<TableName, TableDescriptor> known = new HashMap<>();
  private final List<String> snapshots = new ArrayList<>();

  private static <T> T answering(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private Object asMaster(String method, Object[] arguments) {
    switch (method) {
      case "tableExists":
        return known.containsKey((TableName) arguments[0]);
      case "getDescriptor":
        return known.get((TableName) arguments[0]);
      case "getRegionServers":
        return List.of();
      case "deleteSnapshots":
        snapshots.removeIf(name -> ((Pattern) arguments[0]).matcher(name).matches());
        return null;
      case "createTable":
        TableDescriptor made = (TableDescriptor) arguments[0];
        known.put(made.getTableName(), made);
        return null;
      case "close":
        return null;
      default:
        throw new UnsupportedOperationException(method);
    }
  }

  private Tables tables() throws IOException {
    Configuration conf = new Configuration();
    conf.set("hbase.rootdir", directory.toUri().toString());
    Admin admin = answering(Admin.class, (any, method, given) -> asMaster(method.getName(), given));
    Connection connection =
        answering(
            Connection.class,
            (any, method, given) -> {
              switch (method.getName()) {
                case "getConfiguration":
                  return conf;
                case "getAdmin":
                  return admin;
                case "close":
                  return null;
                default:
                  throw new UnsupportedOperationException(method.getName());
              }
            });
    return new Tables(connection);
  }

  @Test
  void aNewTableHasNoSnapshotOfAnEarlierOne() throws IOException {
    snapshots.addAll(List.of(Snapshots.name(TABLE), Snapshots.name(TABLE) + "2", "theirs"));
    try (Tables tables = tables()) {
      tables.create(TABLE);
      assertTrue(tables.exists(TABLE));
      assertEquals(List.of(Snapshots.name(TABLE) + "2", "theirs"), snapshots);
      snapshots.add(Snapshots.name(TABLE));
      tables.create(TABLE); // it is there, and keeps its own
      assertEquals(3, snapshots.size());
    }
  }

  @Test
  void tablesOfTwoNamespacesHaveSnapshotsOfTheirOwn() {
    assertEquals("default-runs.input-scan", Snapshots.name(TABLE));
    assertNotEquals(Snapshots.name(TABLE), Snapshots.name(TableName.valueOf("other:runs.input")));
    // Names of snapshots have what names of tables may have.
    TableName.isLegalTableQualifierName(Bytes.toBytes(Snapshots.name(TABLE)));
  }

  @Test
  void rowsAndTablesOfSomebodyElseStay() throws IOException {
    known.put(TABLE, TableDescriptorBuilder.newBuilder(TABLE).build());
    try (Tables tables = tables()) {
      String theirs = "table runs.input is there already, and is none of Assay's: ";
      Exception ofRegion =
          assertThrows(
              FileAlreadyExistsException.class,
              () -> tables.empty(RegionInfoBuilder.newBuilder(TABLE).build()));
      assertEquals(theirs + "no row of it is removed", ofRegion.getMessage());
      assertThrows(
          FileAlreadyExistsException.class, () -> tables.empty(TABLE, new RowKeys(0, 0, 1)));
      assertThrows(FileAlreadyExistsException.class, () -> tables.drop(TABLE));
      assertThrows(FileAlreadyExistsException.class, () -> tables.create(TABLE));
    }
  }
}

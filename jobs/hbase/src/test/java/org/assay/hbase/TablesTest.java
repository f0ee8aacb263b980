package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.RegionMetricsBuilder;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked of HBase's master, which knows some tables and the names of some snapshots. */
class TablesTest {
  private static final String NAME = "runs.input";
  private static final TableName TABLE = TableName.valueOf(NAME);

  @TempDir java.nio.file.Path directory;

  private final String home = System.getProperty("user.home");
  private final Configuration conf = new Configuration();
  private final Map<TableName, TableDescriptor> known = new HashMap<>();
  private final List<String> snapshots = new ArrayList<>();

  /** Tables that HBase's master does not delete. */
  private final List<TableName> stuck = new ArrayList<>();

  /** What each look at a table's regions finds: how many files each has, or an exception. */
  private final Deque<Object> looks = new ArrayDeque<>();

  private int compactions;

  /** Files on their way into tables lie below it. */
  @BeforeEach
  void moveHome() {
    System.setProperty("user.home", directory.toString());
  }

  @AfterEach
  void moveHomeBack() {
    System.setProperty("user.home", home);
  }

  private static <T> T answering(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private Object asMaster(String method, Object[] arguments) throws IOException {
    switch (method) {
      case "tableExists":
        return known.containsKey((TableName) arguments[0]);
      case "getDescriptor":
        return known.get((TableName) arguments[0]);
      case "getRegionServers":
        return looks.isEmpty()
            ? List.of()
            : List.of(ServerName.valueOf("worker-1,1,1"), ServerName.valueOf("worker-2,1,1"));
      case "getRegionMetrics":
        return metrics();
      case "getRegions":
        return Collections.nCopies(2, RegionInfoBuilder.newBuilder(TABLE).build());
      case "majorCompactRegion":
        compactions++;
        return null;
      case "getCompactionState":
        return CompactionState.NONE;
      case "flush":
      case "disableTable":
        return null;
      case "isTableEnabled":
        return true;
      case "listTableNames":
        return known.keySet().toArray(new TableName[0]);
      case "deleteTable":
        if (stuck.contains((TableName) arguments[0])) {
          throw new IOException("stuck: " + arguments[0]);
        }
        known.remove((TableName) arguments[0]);
        return null;
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

  /** What one of the servers tells. */
  private List<RegionMetrics> metrics() throws IOException {
    Object files = looks.remove();
    if (files instanceof IOException) {
      throw (IOException) files;
    }
    List<RegionMetrics> metrics = new ArrayList<>();
    for (int count : (int[]) files) {
      metrics.add(
          RegionMetricsBuilder.newBuilder(new byte[] {1})
              .setStoreCount(1)
              .setStoreFileCount(count)
              .build());
    }
    return metrics;
  }

  private Tables tables() throws IOException {
    conf.set("fs.defaultFS", "file:///");
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
      tables.create(NAME);
      assertTrue(tables.exists(NAME));
      assertEquals(List.of(Snapshots.name(TABLE) + "2", "theirs"), snapshots);
      snapshots.add(Snapshots.name(TABLE));
      tables.create(NAME); // it is there, and keeps its own
      assertEquals(3, snapshots.size());
    }
  }

  @Test
  void aTableIsTheLastThatGoesSoThatWhatStaysIsFoundAgain() throws IOException {
    TableName other = TableName.valueOf("runs.other");
    known.put(TABLE, Tables.descriptor(TABLE, new TableSettings(conf)));
    known.put(other, Tables.descriptor(other, new TableSettings(conf)));
    stuck.add(TABLE);
    snapshots.add(Snapshots.name(TABLE));
    try (Tables tables = tables()) {
      Exception stays = assertThrows(IOException.class, () -> tables.dropBelow(new Path("/runs")));
      assertEquals("stuck: runs.input", stays.getMessage());
      assertEquals(List.of(TABLE), List.copyOf(known.keySet()));
      assertEquals(List.of(), snapshots);
      stuck.clear();
      assertTrue(tables.dropBelow(new Path("/runs")));
      assertTrue(known.isEmpty());
      assertFalse(tables.dropBelow(new Path("/runs")));
    }
  }

  @Test
  void directoriesForTheFilesOfTablesGoWithTheLastTable() throws IOException {
    TableName other = TableName.valueOf("runs.other");
    try (Tables tables = tables()) {
      for (TableName table : List.of(TABLE, other)) {
        known.put(table, Tables.descriptor(table, new TableSettings(conf)));
        Path loaded = Tables.directory(conf, table, "load-1");
        assertTrue(loaded.getFileSystem(conf).mkdirs(loaded));
      }
      tables.drop(NAME);
      assertEquals(
          List.of("runs.other"), List.of(directory.resolve("assay-tables").toFile().list()));
      tables.drop(other.getNameAsString());
      assertFalse(Files.exists(directory.resolve("assay-tables")));
    }
  }

  @Test
  void aTableIsCompactedWhenAllItsRegionsAreWithAServer() throws IOException {
    conf.set(TableSettings.COMPACTION, "wait");
    looks.addAll(List.of(new ConnectException("refused"), new int[] {1}, new int[] {}));
    looks.addAll(List.of(new int[] {1}, new int[] {3}, new int[] {1, 1}, new int[] {}));
    try (Tables tables = tables()) {
      tables.settle(NAME);
    }
    assertEquals(1, compactions);
    assertTrue(looks.isEmpty());
  }

  @Test
  void aServerThatStaysAwayIsNotWaitedForWithoutEnd() throws IOException {
    conf.set(TableSettings.COMPACTION, "wait");
    conf.setInt("hbase.client.operation.timeout", 300);
    looks.addAll(Collections.nCopies(20, new ConnectException("refused")));
    try (Tables tables = tables()) {
      assertThrows(ConnectException.class, () -> tables.settle(NAME));
    }
    looks.clear();
    looks.add(new TableNotFoundException("it is gone"));
    try (Tables tables = tables()) {
      assertThrows(TableNotFoundException.class, () -> tables.settle(NAME));
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
      RegionInfo theirs = RegionInfoBuilder.newBuilder(TABLE).build();
      Exception ofRegion =
          assertThrows(
              FileAlreadyExistsException.class,
              () -> tables.empty(NAME, new Tables.Place(theirs, null)));
      assertEquals(
          "table runs.input is there already, and is none of Assay's: no row of it is removed",
          ofRegion.getMessage());
      assertThrows(
          FileAlreadyExistsException.class, () -> tables.empty(NAME, new RowKeys(0, 0, 1)));
      assertThrows(FileAlreadyExistsException.class, () -> tables.drop(NAME));
      assertThrows(FileAlreadyExistsException.class, () -> tables.create(NAME));
    }
  }
}

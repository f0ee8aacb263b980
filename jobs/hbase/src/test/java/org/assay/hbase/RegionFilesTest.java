package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.HRegionFileSystem;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of a region do not depend on how long what a compaction has replaced stays there. */
class RegionFilesTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");
  private static final RegionInfo REGION = RegionInfoBuilder.newBuilder(TABLE).build();

  @TempDir java.nio.file.Path directory;

  private Configuration conf;
  private FileSystem files;
  private Path place;

  @BeforeEach
  void makeRegion() throws Exception {
    conf = HBaseConfiguration.create();
    Path root = new Path(directory.toUri());
    conf.set("hbase.rootdir", root.toString());
    files = root.getFileSystem(conf);
    Path table = CommonFSUtils.getTableDir(root, TABLE);
    place = HRegionFileSystem.createRegionOnFileSystem(conf, files, table, REGION).getRegionDir();
  }

  /** Returns the bytes of the file, which has so many lines. */
  private long load(String name, int lines) throws Exception {
    byte[] line = Bytes.toBytes("a line");
    try (FileWriter writer = new FileWriter(conf, TABLE, place, name, new RowKeys(0, 0, 1), 0)) {
      for (int i = 0; i < lines; i++) {
        writer.write(line, 0, line.length);
      }
    }
    return files.getFileStatus(new Path(place, "d/" + name)).getLen();
  }

  /** Returns the bytes of the file, as a compaction of others leaves it. */
  private long compact(String name, String... others) throws Exception {
    Path file = new Path(place, "d/" + name);
    try (HFile.Writer writer =
        HFile.getWriterFactory(conf, CacheConfig.DISABLED)
            .withPath(files, file)
            .withFileContext(new HFileContextBuilder().build())
            .create()) {
      writer.appendFileInfo(
          HStoreFile.COMPACTION_EVENT_KEY,
          ProtobufUtil.toCompactionEventTrackerBytes(Set.of(others)));
    }
    return files.getFileStatus(file).getLen();
  }

  @Test
  void allFilesCountUntilTheyAreCompacted() throws Exception {
    assertEquals(0, RegionFiles.bytes(conf, REGION));
    long first = load("0a", 1000);
    assertEquals(first, RegionFiles.bytes(conf, REGION));
    long second = load("0b_SeqId_4_", 2000);
    assertEquals(first + second, RegionFiles.bytes(conf, REGION));
  }

  @Test
  void whatACompactionHasReplacedDoesNotCount() throws Exception {
    load("0a", 1000);
    load("0b_SeqId_4_", 2000);
    long compacted = compact("0c", "0a", "0b_SeqId_4_");
    assertEquals(compacted, RegionFiles.bytes(conf, REGION));
    long later = load("0d", 10);
    assertEquals(compacted + later, RegionFiles.bytes(conf, REGION));
    files.delete(new Path(place, "d/0a"), false);
    assertEquals(compacted + later, RegionFiles.bytes(conf, REGION));
    long again = compact("0e", "0b_SeqId_4_", "0c", "0d");
    assertEquals(again, RegionFiles.bytes(conf, REGION));
  }

  @Test
  void filesInTheMakingAndLogsDoNotCount() throws Exception {
    long bytes = load("0a", 1000);
    for (String other : new String[] {".tmp", "recovered.edits"}) {
      java.nio.file.Path folder = java.nio.file.Path.of(place.toUri().getPath(), other);
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("0b"), "bytes of no region");
    }
    assertEquals(bytes, RegionFiles.bytes(conf, REGION));
  }

  @Test
  void aRegionThatIsNotThereHasNone() throws Exception {
    RegionInfo other = RegionInfoBuilder.newBuilder(TableName.valueOf("runs.other")).build();
    assertEquals(0, RegionFiles.bytes(conf, other));
  }
}

package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.util.Bytes;
import org.assay.rows.RowKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** HFiles of a load hold what was written, however their blocks are encoded and compressed. */
class FileWriterTest {
  private static final TableName TABLE = TableName.valueOf("runs.input");

  @TempDir java.nio.file.Path directory;

  private void write(Configuration conf, int apart, List<String> lines) throws Exception {
    RowKeys keys = new RowKeys(1, 0, 1);
    Path load = new Path(directory.toString());
    try (FileWriter writer = new FileWriter(conf, TABLE, load, "part-0", keys, apart)) {
      for (String line : lines) {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        writer.write(bytes, 0, bytes.length);
      }
    }
  }

  /** The number of each line that has a cell in a family's file, and the cell's value. */
  private List<String> read(Configuration conf, byte[] family, String codecs) throws Exception {
    Path file = new Path(directory.toString(), Bytes.toString(family) + "/part-0");
    List<String> cells = new ArrayList<>();
    try (HFile.Reader reader =
        HFile.createReader(FileSystem.getLocal(conf), file, CacheConfig.DISABLED, true, conf)) {
      assertEquals(codecs, reader.getDataBlockEncoding() + " " + compression(reader));
      HFileScanner scanner = reader.getScanner(conf, false, false);
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        Cell cell = scanner.getCell();
        long number = RowKeys.count(CellUtil.cloneRow(cell));
        cells.add(number + " " + Bytes.toString(CellUtil.cloneValue(cell)));
      }
    }
    return cells;
  }

  private static Object compression(HFile.Reader reader) {
    return reader.getFileContext().getCompression();
  }

  @ParameterizedTest
  @CsvSource({
    "none, none",
    "none, gz",
    "none, snappy",
    "fast-diff, snappy",
    "prefix, none",
    "diff, gz",
    "row-index-v1, none"
  })
  void firstColumnsAndTheRestAreInFilesOfTheirOwn(String encoding, String compression)
      throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "file:///");
    conf.set("hbase.rootdir", directory.toUri().toString());
    conf.set(TableSettings.ENCODING, encoding);
    conf.set(TableSettings.COMPRESSION, compression);
    String codecs =
        new TableSettings(conf).encoding() + " " + new TableSettings(conf).compression();
    write(conf, 2, List.of("1,2,3,4", "5 6", "7,8,9", ""));
    assertEquals(List.of("0 1,2", "1 5 6", "2 7,8", "3 "), read(conf, Tables.FAMILY, codecs));
    assertEquals(List.of("0 ,3,4", "1 ", "2 ,9", "3 "), read(conf, Tables.REST_FAMILY, codecs));
    assertTrue(codecs.toLowerCase(java.util.Locale.ROOT).endsWith(compression), codecs);
  }

  @Test
  void wholeLinesAreInOneFile() throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "file:///");
    conf.set("hbase.rootdir", directory.toUri().toString());
    List<String> lines = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      lines.add(i + "," + i);
      expected.add(i + " " + i + "," + i);
    }
    write(conf, 0, lines);
    assertEquals(expected, read(conf, Tables.FAMILY, "NONE NONE"));
    assertTrue(!java.nio.file.Files.exists(directory.resolve("r")));
  }
}

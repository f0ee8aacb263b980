package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.SequenceFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SortTest {
  private static final int RECORD_BYTES = 100;

  @TempDir Path directory;

  @Test
  void sortsPairsOfBytesInAllFilesTogether() throws Exception {
    LocalRun local = new LocalRun(directory);
    Random random = new Random(1);
    List<byte[]> keys = new ArrayList<>();
    try (SequenceFile.Writer writer = writer("in/a")) {
      for (int i = 0; i < 500; i++) {
        byte[] key = new byte[random.nextInt(4)];
        random.nextBytes(key);
        keys.add(key);
        writer.append(new BytesWritable(key), new BytesWritable(new byte[] {(byte) i}));
      }
    }
    JsonNode result = local.result("out", "sort-rdd");
    keys.sort(Arrays::compareUnsigned);
    List<byte[]> sorted = new ArrayList<>();
    for (Path part : local.parts("out")) {
      try (SequenceFile.Reader reader =
          new SequenceFile.Reader(
              new Configuration(),
              SequenceFile.Reader.file(new org.apache.hadoop.fs.Path(part.toUri())))) {
        BytesWritable key = new BytesWritable();
        while (reader.next(key, new BytesWritable())) {
          sorted.add(key.copyBytes());
        }
      }
    }
    assertEquals(500, sorted.size());
    for (int i = 0; i < 500; i++) {
      assertEquals(0, Arrays.compareUnsigned(keys.get(i), sorted.get(i)), "key " + i);
    }
    assertEquals(500, result.get("pairs_written").asInt());
    assertEquals(local.parts("out").size(), result.get("partitions").asInt());
  }

  @Test
  void sortsRecordsByTheirFirstTenBytes() throws Exception {
    LocalRun local = new LocalRun(directory);
    byte[] records = new byte[RECORD_BYTES * 300];
    new Random(2).nextBytes(records);
    Files.createDirectories(directory.resolve("in"));
    Files.write(directory.resolve("in/a"), records);
    JsonNode result = local.result("out", "terasort-rdd");
    ByteArrayOutputStream sorted = new ByteArrayOutputStream();
    for (Path part : local.parts("out")) {
      sorted.write(Files.readAllBytes(part));
    }
    assertEquals(300, result.get("rows_written").asInt());
    List<byte[]> expected = cut(records);
    expected.sort((left, right) -> Arrays.compareUnsigned(left, right));
    List<byte[]> actual = cut(sorted.toByteArray());
    assertEquals(300, actual.size());
    for (int i = 0; i < 300; i++) {
      assertTrue(Arrays.equals(expected.get(i), actual.get(i)), "record " + i);
    }
  }

  private SequenceFile.Writer writer(String name) throws Exception {
    Files.createDirectories(directory.resolve(name).getParent());
    return SequenceFile.createWriter(
        new Configuration(),
        SequenceFile.Writer.file(new org.apache.hadoop.fs.Path(directory.resolve(name).toUri())),
        SequenceFile.Writer.keyClass(BytesWritable.class),
        SequenceFile.Writer.valueClass(BytesWritable.class));
  }

  private static List<byte[]> cut(byte[] records) {
    List<byte[]> cut = new ArrayList<>();
    for (int at = 0; at < records.length; at += RECORD_BYTES) {
      cut.add(Arrays.copyOfRange(records, at, at + RECORD_BYTES));
    }
    return cut;
  }
}

package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times are in the bucket whose bounds they lie between, and single gets alone are timed. */
class GetTimesTest {
  private static final int ROWS = 300;

  @ParameterizedTest
  @CsvSource({
    "0, at_most_10_us",
    "1, at_most_10_us",
    "10000, at_most_10_us",
    "10001, at_most_13_us",
    "13000, at_most_13_us",
    "13001, at_most_16_us",
    "5011000, at_most_5012_us",
    "5012000, at_most_5012_us",
    "5012001, at_most_6310_us",
    "100000000000, at_most_100000000_us",
    "100000000001, longer",
    "9223372036854774807, longer"
  })
  void aBucketEndsWithItsLongestTime(long ns, String bucket) {
    assertEquals(bucket, GetTimes.bucket(ns));
  }

  /** What is counted when a task reads so many single rows by one call, and a range of rows. */
  private static Counters counted(int atOnce) throws Exception {
    SortedMap<byte[], String> lines = new TreeMap<>(Arrays::compareUnsigned);
    List<RowSplit.Part> parts = new ArrayList<>();
    RowKeys keys = new RowKeys(RowKeys.number("rows.txt"), 0, 1);
    for (int row = 0; row < ROWS; row++) {
      byte[] key = keys.next();
      lines.put(key, "line " + row);
      parts.add(new RowSplit.Part(key, key));
    }
    parts.add(new RowSplit.Part(new byte[0], new byte[0]));
    Counters counters = new Counters();
    Configuration conf = new Configuration(false);
    conf.setInt(RowReader.GETS_AT_ONCE, atOnce);
    TaskAttemptContext task =
        new TaskAttemptContextImpl(conf, new TaskAttemptID()) {
          @Override
          public Counter getCounter(String group, String name) {
            return counters.findCounter(group, name);
          }
        };
    try (RowReader reader = new RowReader(new LinesInMemory(lines))) {
      RowSplit split = new RowSplit("runs.input", parts, new String[0], 2 * ROWS, 0, false);
      reader.initialize(split, task);
      for (int row = 0; row < 2 * ROWS; row++) {
        assertTrue(reader.nextKeyValue());
        assertEquals("line " + row % ROWS, reader.getCurrentValue().toString());
      }
    }
    return counters;
  }

  @Test
  void eachGetThatIsACallOfItsOwnIsTimed() throws Exception {
    long gets = 0;
    for (Counter bucket : counted(1).getGroup(GetTimes.GROUP)) {
      assertTrue(bucket.getName().matches("at_most_\\d+_us|longer"), bucket.getName());
      gets += bucket.getValue();
    }
    assertEquals(ROWS, gets);
    assertEquals(0, counted(2).getGroup(GetTimes.GROUP).size());
    assertEquals(0, counted(RowReader.GETS).getGroup(GetTimes.GROUP).size());
  }
}

package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines that one client has put are found again by their numbers, in the order of a job's list. */
class AskedLinesTest {
  private static final String TABLE = "runs.input";
  private static final int CLIENT = RowKeys.number("rows.txt");
  private static final long LINE_BYTES = 7;

  @TempDir java.nio.file.Path directory;

  /** What is in the table, in the order of its keys. */
  private final SortedMap<byte[], String> rows = new TreeMap<>(Arrays::compareUnsigned);

  /** Puts lines {@code line 0}, {@code line 1}, ... as one client does. */
  private void put(int client, int places, int lines) throws IOException {
    List<LineWriter> writers = new ArrayList<>();
    for (int place = 0; place < places; place++) {
      RowKeys keys = new RowKeys(client, place, places);
      writers.add(
          new LineWriter() {
            @Override
            public void write(byte[] bytes, int offset, int length) {
              rows.put(keys.next(), new String(bytes, offset, length, StandardCharsets.UTF_8));
            }

            @Override
            public void close() {}
          });
    }
    try (LineStream stream = new LineStream(writers, () -> {})) {
      for (int number = 0; number < lines; number++) {
        stream.write(("line " + number + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private LinePlaces places() throws IOException {
    Map<byte[], Long> counts = new TreeMap<>(Arrays::compareUnsigned);
    rows.keySet().forEach(key -> counts.merge(RowKeys.writer(key), 1L, Long::sum));
    List<RegionRows.Run> runs = new ArrayList<>();
    counts.forEach(
        (writer, count) -> runs.add(new RegionRows.Run(writer, 0, count, LINE_BYTES * count)));
    List<RegionRows> region = List.of(new RegionRows(new byte[0], new byte[0], runs));
    return LinePlaces.of(TABLE, region, ", or read all");
  }

  private Configuration asking(List<String> entries) throws IOException {
    java.nio.file.Path list = directory.resolve("asked");
    Files.write(list, entries);
    Configuration conf = new Configuration(false);
    conf.set(AskedLines.READ_BY_JOB, list.toUri().toString());
    return conf;
  }

  private static TaskAttemptContext task(Configuration conf) {
    return new TaskAttemptContextImpl(conf, new TaskAttemptID());
  }

  /** The lines that all tasks read, at most so many tasks. */
  private List<String> read(int most, List<String> entries) throws IOException {
    Configuration conf = asking(entries);
    List<String> lines = new ArrayList<>();
    for (InputSplit split : new AskedLines(conf).splits(TABLE, places(), false, most)) {
      RowSplit task = RowSplitTest.copied((RowSplit) split);
      long before = lines.size();
      try (RowReader reader = new RowReader(new LinesInMemory(rows))) {
        reader.initialize(task, task(conf));
        while (reader.nextKeyValue()) {
          lines.add(reader.getCurrentValue().toString());
        }
        assertEquals(1, reader.getProgress());
      }
      assertEquals(task.rows(), lines.size() - before);
      assertEquals(LINE_BYTES * task.rows(), task.getLength());
    }
    return lines;
  }

  @Test
  void everyLineHasItsKey() throws IOException {
    for (int places : new int[] {1, 2, 3, 8}) {
      for (int lines : new int[] {1, 1024, 1025, 5000, 9 * 1024}) {
        rows.clear();
        put(CLIENT, places, lines);
        LinePlaces found = places();
        assertEquals(lines, found.lines());
        for (int number = 0; number < lines; number++) {
          List<RegionRows.Range> alone = found.ranges(number, number);
          assertEquals(1, alone.size());
          assertEquals(1, alone.get(0).rows);
          assertEquals("line " + number, rows.get(alone.get(0).start));
        }
      }
    }
  }

  @Test
  void linesThatFollowEachOtherAreARangeInEachPlace() throws IOException {
    put(CLIENT, 3, 10_000);
    LinePlaces places = places();
    Random random = new Random(2);
    for (int attempt = 0; attempt < 100; attempt++) {
      int first = random.nextInt(10_000);
      int last = first + random.nextInt(10_000 - first);
      List<RegionRows.Range> ranges = places.ranges(first, last);
      assertTrue(ranges.size() <= 3);
      assertEquals(last - first + 1, ranges.stream().mapToLong(range -> range.rows).sum());
      for (RegionRows.Range range : ranges) {
        long found = 0;
        for (Map.Entry<byte[], String> row : rows.entrySet()) {
          if (Arrays.compareUnsigned(range.start, row.getKey()) <= 0
              && Arrays.compareUnsigned(row.getKey(), range.stop) < 0) {
            int number = Integer.parseInt(row.getValue().substring("line ".length()));
            assertTrue(first <= number && number <= last);
            found++;
          }
        }
        assertEquals(range.rows, found);
      }
    }
  }

  @Test
  void singleLinesComeInTheOrderOfTheList() throws IOException {
    put(CLIENT, 2, 5000);
    List<String> entries = new ArrayList<>();
    for (int number = 3; number < 5000; number += 4) {
      entries.add(Integer.toString(number));
    }
    Collections.shuffle(entries, new Random(5));
    List<String> expected = new ArrayList<>();
    entries.forEach(entry -> expected.add("line " + entry));
    assertTrue(entries.size() > 2 * RowReader.GETS);
    for (int most : new int[] {1, 2, 7}) {
      assertEquals(expected, read(most, entries));
    }
  }

  @Test
  void rangesAndSingleLinesMayFollowEachOther() throws IOException {
    put(CLIENT, 2, 3000);
    List<String> expected = new ArrayList<>();
    for (int number : new int[] {2999, 4}) {
      expected.add("line " + number);
    }
    for (int number = 1000; number < 1020; number++) {
      expected.add("line " + number);
    }
    expected.add("line 0");
    assertEquals(expected, read(2, List.of("2999", "4", "1000-1019", "0")));
    List<String> all = read(2, List.of("0-2999"));
    Collections.sort(all);
    List<String> put = new ArrayList<>(rows.values());
    Collections.sort(put);
    assertEquals(put, all);
  }

  @Test
  void tasksShareLinesEvenlyHoweverFewRangesHaveThem() throws IOException {
    put(CLIENT, 4, 8192);
    Configuration conf = asking(List.of("0-2047", "4096-6143"));
    List<InputSplit> splits = new AskedLines(conf).splits(TABLE, places(), false, 4);
    assertEquals(4, splits.size());
    for (InputSplit split : splits) {
      assertEquals(1024, ((RowSplit) split).rows());
    }
    // A range with the lines of three tasks is one task's, and another has all that follow.
    conf = asking(List.of("0-1023", "1024", "1025", "1026"));
    assertEquals(2, new AskedLines(conf).splits(TABLE, places(), false, 4).size());
  }

  @Test
  void aFewLinesAreOneTask() throws IOException {
    put(CLIENT, 1, 1000);
    for (int[] tasks : new int[][] {{1, 1}, {199, 1}, {200, 2}, {1000, 4}}) {
      String[] entries = new String[tasks[0]];
      Arrays.setAll(entries, Integer::toString);
      Configuration conf = asking(List.of(entries));
      assertEquals(tasks[1], new AskedLines(conf).splits(TABLE, places(), false, 4).size());
    }
  }

  @Test
  void linesThatAreNotThereAreRefusedBeforeTheJobAndMissedInATask() throws IOException {
    put(CLIENT, 2, 3000);
    Exception beyond = assertThrows(IOException.class, () -> read(2, List.of("7", "2990-3000")));
    assertEquals(
        "table runs.input has 3000 lines, counted from 0, and line 3000 is asked for; ask for lines"
            + " that are there",
        beyond.getMessage());
    Configuration conf = asking(List.of("6", "7"));
    RowSplit split =
        RowSplitTest.copied(
            (RowSplit) new AskedLines(conf).splits(TABLE, places(), false, 1).get(0));
    rows.remove(places().ranges(7, 7).get(0).start);
    try (RowReader reader = new RowReader(new LinesInMemory(rows))) {
      reader.initialize(split, task(conf));
      assertTrue(reader.nextKeyValue());
      assertThrows(IOException.class, reader::nextKeyValue);
    }
  }

  @Test
  void linesOfSeveralClientsAreNotLookedUp() throws IOException {
    put(CLIENT, 2, 3000);
    put(RowKeys.number("other.txt"), 2, 3000);
    Exception several = assertThrows(IOException.class, this::places);
    assertEquals(
        "lines of table runs.input can't be looked up by their numbers, as more than one client has"
            + " put them; put all by one, or read all",
        several.getMessage());
    rows.clear();
    put(CLIENT, 2, 3000);
    rows.remove(new ArrayList<>(rows.keySet()).get(rows.size() - 1));
    assertThrows(IOException.class, this::places);
  }
}

package org.assay.jobs.lookup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.io.Text;
import org.assay.jobs.LocalRun;
import org.assay.jobs.graph.MalformedLineException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A lookup adds up what a naive sum over the asked rows gives, and refuses what it can't use. */
class LookupTest {
  private static final int ROWS = 2000;

  @TempDir Path directory;

  private LocalRun local;
  private String input;
  private final List<String> lines = new ArrayList<>();

  @BeforeEach
  void writeRows() throws Exception {
    local = new LocalRun(directory);
    Random random = new Random(3);
    for (int row = 0; row < ROWS; row++) {
      lines.add("000" + row + "," + row % 7 + "," + random.nextInt(1000) + ",rest " + row);
    }
    input = local.write("rows/a.txt", lines.toArray(new String[0]));
  }

  private int run(int reducers, String... asked) throws Exception {
    String list = local.write("asked", asked);
    String[] args = {
      "lookup",
      input,
      local.path("out"),
      "--rows",
      list,
      "--at-once",
      "1",
      "--report",
      local.path("report.json")
    };
    return local.run(reducers, args);
  }

  @ParameterizedTest
  @CsvSource({"1, false", "3, false", "2, true"})
  void sumsAreThoseOfTheAskedRows(int reducers, boolean ranges) throws Exception {
    List<Integer> asked = new ArrayList<>();
    List<String> list = new ArrayList<>();
    if (ranges) {
      list.addAll(List.of("1990-1999", "0-4", "17", "500-899"));
    }
    for (int row = 0; row < ROWS; row++) {
      boolean inRange = row >= 1990 || row < 5 || row == 17 || (row >= 500 && row < 900);
      if (ranges ? inRange : row % 13 == 5) {
        asked.add(row);
      }
    }
    if (!ranges) {
      asked.forEach(row -> list.add(row.toString()));
      Collections.shuffle(list, new Random(1));
    }
    assertEquals(0, run(reducers, list.toArray(new String[0])), local.complaint());

    Map<Integer, Long> sums = new TreeMap<>();
    long bytes = 0;
    for (int row : asked) {
      sums.merge(row % 7, Long.valueOf(lines.get(row).split(",", -1)[2]), Long::sum);
      bytes += lines.get(row).length();
    }
    List<String> expected = new ArrayList<>();
    sums.forEach((group, sum) -> expected.add(group + "\t" + sum));
    assertEquals(expected, local.output("out"));
    JsonNode result = local.report("report.json").get("result");
    assertEquals(ROWS, result.get("lines_read").asLong());
    assertEquals(asked.size(), result.get("rows_found").asLong());
    assertEquals(bytes, result.get("bytes_found").asLong());
    assertFalse(local.exists("out.work"), "intermediates are gone");
  }

  @ParameterizedTest
  @ValueSource(strings = {"7 8 7", "7 3-9", "3-9 7", "3-9 9-12", "1-100 40-50 200"})
  void aRowThatIsAskedForTwiceIsRefused(String asked) throws Exception {
    assertEquals(2, run(1, asked.split(" ", -1)));
    assertTrue(
        local.complaint().matches("(?s).*row (7|9|40) is asked for twice; ask for each once.*"),
        local.complaint());
    assertFalse(local.exists("out"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "9-3", "-5", "5-", "1-2-3", "1234567890123456789"})
  void whatIsNoRowIsRefusedWithItsLine(String wrong) throws Exception {
    assertEquals(2, run(1, "1", wrong));
    String complaint = "line 2, \"" + wrong + "\", is neither a row's number nor a range of them";
    assertTrue(local.complaint().contains(complaint), local.complaint());
  }

  @Test
  void aListWithoutRowsIsRefused() throws Exception {
    assertEquals(2, run(1));
    assertTrue(local.complaint().contains("no row is asked for"), local.complaint());
    String[] args = {"lookup", input, local.path("out"), "--rows", local.path("absent")};
    assertEquals(2, local.run(1, args));
    assertTrue(local.complaint().contains("absent does not exist"), local.complaint());
  }

  @Test
  void rowsThatTheInputLacksAreNamed() throws Exception {
    assertEquals(2, run(1, "1990-2009"));
    assertTrue(local.complaint().contains(" has 10 of the 20 rows of "), local.complaint());
    assertFalse(local.exists("out"), "a wrong output is gone");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x,1,2", "5,1", "5,,2", "5,1,2 3"})
  void aLineThatIsNoRowIsMalformed(String wrong) throws Exception {
    RowLine row = new RowLine();
    assertThrows(
        MalformedLineException.class,
        () -> {
          row.row(new Text(wrong));
          row.next();
          row.next();
        });
    lines.set(5, wrong);
    input = local.write("rows/a.txt", lines.toArray(new String[0]));
    assertEquals(1, run(1, "0-1999"));
    assertFalse(local.exists("out"), "a wrong output is gone");
  }
}

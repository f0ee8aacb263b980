package org.assay.jobs.normalise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Text in the usual shapes becomes canonical, every line is accounted for, or refused by number.
 */
class NormaliseTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private int normalise(String input, String... options) throws Exception {
    List<String> args = new ArrayList<>(List.of("normalise", input, local.path("out")));
    args.addAll(List.of("--report", local.path("report.json")));
    args.addAll(Arrays.asList(options));
    return local.run(2, args.toArray(new String[0]));
  }

  private String bytes(String name, String content) throws Exception {
    Path file = directory.resolve(name);
    Files.write(file, content.getBytes(StandardCharsets.UTF_8));
    return file.toString();
  }

  private void assertCount(long expected, String name) {
    JsonNode result = local.report("report.json").get("result");
    assertEquals(expected, result.get(name).asLong(), name);
  }

  @Test
  void everyKindOfLineIsCounted() throws Exception {
    String input =
        bytes("in.csv", "# head\n2,1\r\n1;2\n\n1\t3\n1   3\n%x\n4 4\n5 5\n5 1\n   \n1 2");
    assertEquals(0, normalise(input), local.complaint());
    assertEquals(List.of("1\t2", "1\t3", "1\t5", "4"), local.output("out"));
    assertCount(12, "lines");
    assertCount(2, "comments");
    assertCount(2, "blanks");
    assertCount(8, "edge_lines");
    assertCount(2, "self_loops");
    assertCount(3, "duplicates");
    assertCount(1, "reversed_duplicates");
    assertCount(3, "edges");
    assertCount(5, "vertices");
    assertCount(1, "lone_vertices");
  }

  @Test
  void gzipIsReadByItsSuffixAndSkippedByUncompressedOffset() throws Exception {
    Path file = directory.resolve("in.txt.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write("7115\r\n103689\r\n30\t1412\r\n3\t30\r\n".getBytes(StandardCharsets.UTF_8));
    }
    assertEquals(0, normalise(file.toString(), "--skip-bytes", "14"), local.complaint());
    assertEquals(List.of("3\t30", "30\t1412"), local.output("out"));
    assertCount(2, "skipped_lines");
  }

  @Test
  void extraColumnsAreRefusedUnlessAllowed() throws Exception {
    String input = bytes("in.txt", "1 2 0.5\n2 3 x y\n");
    assertEquals(2, normalise(input));
    assertTrue(local.complaint().contains("--extra-columns allow"), local.complaint());
    assertEquals(0, normalise(input, "--extra-columns", "allow"), local.complaint());
    assertEquals(List.of("1\t2", "2\t3"), local.output("out"));
  }

  @Test
  void loneVerticesAreRefusedUnlessAllowed() throws Exception {
    String input = bytes("in.txt", "1 2\n0\n2\n");
    assertEquals(2, normalise(input));
    assertTrue(local.complaint().contains("line 2 \"0\""), local.complaint());
    assertEquals(0, normalise(input, "--lone-vertices=allow"), local.complaint());
    assertEquals(List.of("0", "1\t2"), local.output("out"));
    assertCount(2, "lone_lines");
  }

  @Test
  void anUnreadableLineIsNamedByFileAndNumber() throws Exception {
    for (String bad : List.of("1 -2", "a 2", "1 9223372036854775808", "1.0 2", "1e3 2")) {
      String input = bytes("in.txt", "# x\n\n1 2\r\n" + bad + "\n3 4\n");
      assertEquals(2, normalise(input), bad);
      assertTrue(local.complaint().contains("in.txt line 4 \"" + bad + "\""), local.complaint());
      assertEquals(1, local.complaint().lines().count(), local.complaint());
      assertFalse(local.exists("out"));
      assertFalse(local.exists("out.work"));
      JsonNode report = local.report("report.json");
      assertFalse(report.get("succeeded").asBoolean(true));
      assertTrue(report.get("error").asText().contains("line 4"));
    }
  }

  @Test
  void commentCharactersCanBeChosen() throws Exception {
    String input = bytes("in.txt", "! 1\n1 2\n");
    assertEquals(0, normalise(input, "--comment", "!"), local.complaint());
    assertEquals(List.of("1\t2"), local.output("out"));
  }

  @Test
  void severalFilesOfADirectoryAreOneGraph() throws Exception {
    local.write("in/a", "1 2", "9 9");
    local.write("in/b", "2 1", "9 3");
    assertEquals(0, normalise(local.path("in")), local.complaint());
    assertEquals(List.of("1\t2", "3\t9"), local.output("out"));
    assertCount(0, "lone_vertices");
  }
}

package org.assay.jobs.linesort;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.io.Text;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All lines are there, in the order of their bytes from the first file to the last. */
class LineSortTest {
  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 8})
  void linesAreInOrderOverAllFiles(int reducers) throws Exception {
    Random random = new Random(reducers);
    List<String> lines = new ArrayList<>(List.of("", "", "\u00e9", "a\tb", "a b", "x".repeat(200)));
    for (int i = 0; i < 3000; i++) {
      lines.add("w\u00f6rd " + (int) (1 / (random.nextDouble() + 0.01)));
    }
    LocalRun local = new LocalRun(directory);
    String input = local.write("text/a.txt", lines.subList(0, 1000).toArray(new String[0]));
    local.write("text/b.txt", lines.subList(1000, lines.size()).toArray(new String[0]));
    String folder = input.substring(0, input.lastIndexOf('/'));
    String[] args = {
      "sort-lines", folder, local.path("out"), "--report", local.path("report.json")
    };
    assertEquals(0, local.run(reducers, args), local.complaint());

    List<String> written = new ArrayList<>();
    int files = 0;
    for (int part = 0; part < reducers; part++) {
      Path file = Path.of(local.path("out"), String.format(Locale.ROOT, "part-r-%05d", part));
      List<String> some = Files.readAllLines(file, StandardCharsets.UTF_8);
      written.addAll(some);
      files += some.isEmpty() ? 0 : 1;
    }
    assertTrue(files > reducers / 2, files + " files have lines");
    lines.sort((one, other) -> new Text(one).compareTo(new Text(other)));
    assertEquals(lines, written);
    JsonNode result = local.report("report.json").get("result");
    assertEquals(lines.size(), result.get("lines_read").asLong());
    assertEquals(lines.size(), result.get("lines_written").asLong());
  }
}

package org.assay.jobs.wordfrequency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Both variants count what a naive count of lower-case pieces gives; only one combines. */
class WordFrequencyTest {
  private static final String TASKS = "org.apache.hadoop.mapreduce.TaskCounter";

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"word-frequency, 1", "word-frequency, 3", "word-frequency-plain, 2"})
  void agreesWithANaiveCount(String command, int reducers) throws Exception {
    Random random = new Random(7);
    Map<String, Long> expected = new TreeMap<>();
    List<String> lines = new ArrayList<>();
    long words = 0;
    for (int i = 0; i < 3000; i++) {
      StringBuilder line = new StringBuilder();
      for (int j = random.nextInt(12); j > 0; j--) {
        int rank = (int) (1 / (random.nextDouble() + 0.01));
        String word = "W\u00f6rd" + rank;
        line.append(random.nextBoolean() ? word + ", " : "'" + word.toLowerCase(Locale.ROOT) + " ");
        expected.merge(word.toLowerCase(Locale.ROOT), 1L, Long::sum);
        words++;
      }
      lines.add(line + "\u2014");
    }
    LocalRun local = new LocalRun(directory);
    String input = local.write("text/a.txt", lines.toArray(new String[0]));
    String[] args = {command, input, local.path("out"), "--report", local.path("report.json")};
    assertEquals(0, local.run(reducers, args), local.complaint());

    List<String> wanted = new ArrayList<>();
    expected.forEach((word, count) -> wanted.add(word + "\t" + count));
    wanted.sort(null);
    assertEquals(wanted, local.output("out"));
    JsonNode report = local.report("report.json");
    assertEquals(words, report.get("result").get("words").asLong());
    assertEquals(expected.size(), report.get("result").get("distinct_words").asLong());
    JsonNode counted = report.get("jobs").get(0).get("counters").get(TASKS);
    assertEquals(words, counted.get("MAP_OUTPUT_RECORDS").asLong());
    long shipped = command.endsWith("plain") ? words : expected.size();
    assertEquals(shipped, counted.get("REDUCE_INPUT_RECORDS").asLong());
  }
}

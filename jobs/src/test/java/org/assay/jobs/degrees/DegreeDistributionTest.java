package org.assay.jobs.degrees;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assay.jobs.LocalRun;
import org.assay.jobs.RandomGraph;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every degree that occurs has its number of vertices, lone vertices have degree 0. */
class DegreeDistributionTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private JsonNode run(int reducers, String... lines) throws Exception {
    String input = local.write("graph/a.txt", lines);
    String report = local.path("report.json");
    String[] args = {"degree-distribution", input, local.path("out"), "--report", report};
    assertEquals(0, local.run(reducers, args), local.complaint());
    assertFalse(local.exists("out.work"), "intermediates are gone");
    return local.report("report.json").get("result");
  }

  @Test
  void starAndLoneVertices() throws Exception {
    JsonNode result = run(2, "0\t1", "0\t2", "0\t3", "8", "9");
    assertEquals(List.of("0\t2", "1\t3", "3\t1"), local.output("out"));
    assertEquals(6, result.get("vertices").asLong());
    assertEquals(3, result.get("edges").asLong());
    assertEquals(3, result.get("degrees").asLong());
  }

  @Test
  void largestIds() throws Exception {
    long largest = Long.MAX_VALUE;
    run(1, "0\t" + largest, "1\t" + largest);
    assertEquals(List.of("1\t2", "2\t1"), local.output("out"));
  }

  @Test
  void onlyLoneVertices() throws Exception {
    assertEquals(0, run(1, "4", "7").get("edges").asLong());
    assertEquals(List.of("0\t2"), local.output("out"));
  }

  @ParameterizedTest
  @CsvSource({"1, 12, 0.4, 1", "2, 90, 0.02, 3", "3, 60, 0.5, 2"})
  void agreesWithBruteForce(long seed, int vertices, double density, int reducers)
      throws Exception {
    RandomGraph graph = RandomGraph.of(seed, vertices, density);
    Map<String, Long> degrees = new TreeMap<>();
    for (String line : graph.lines(seed)) {
      String[] ends = line.split("\t", -1);
      for (String end : ends) {
        degrees.merge(end, ends.length - 1L, Long::sum);
      }
    }
    Map<Long, Long> histogram = new TreeMap<>();
    degrees.values().forEach(degree -> histogram.merge(degree, 1L, Long::sum));
    List<String> expected = new ArrayList<>();
    histogram.forEach((degree, number) -> expected.add(degree + "\t" + number));
    Collections.sort(expected);

    JsonNode result = run(reducers, graph.lines(seed));
    assertEquals(expected, local.output("out"));
    assertEquals(graph.vertices(), result.get("vertices").asInt());
    assertEquals(graph.edges(), result.get("edges").asLong());
    assertEquals(histogram.size(), result.get("degrees").asInt());
  }

  @Test
  void edgeInTheWrongDirectionIsRefused() throws Exception {
    String input = local.write("graph/a.txt", "2\t1");
    assertEquals(1, local.run(1, "degree-distribution", input, local.path("out")));
    assertFalse(local.exists("out"), "no output is left");
  }
}

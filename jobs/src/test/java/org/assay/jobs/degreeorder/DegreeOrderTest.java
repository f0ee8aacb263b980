package org.assay.jobs.degreeorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assay.jobs.LocalRun;
import org.assay.jobs.RandomGraph;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The workloads in degree order give what brute force gives, and move the records they promise. */
class DegreeOrderTest {
  private static final List<String> TRIANGLES = List.of("triangles-tuned", "triangles-intersect");
  private static final List<String> FRIENDS =
      List.of("mutual-friends-tuned", "mutual-friends-intersect");
  private static final String CLUSTERING = "clustering-coefficient";

  @TempDir Path directory;
  private LocalRun local;
  private int reducers = 2;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private List<String> run(String command, String... lines) throws Exception {
    String name = command + lines.length;
    String input = local.write(name + "-edges.txt", lines);
    String[] args = {command, input, local.path(name), "--report", local.path(command + ".json")};
    assertEquals(0, local.run(reducers, args), local.complaint());
    assertFalse(local.exists(name + ".work"), "intermediates are gone");
    return local.output(name);
  }

  private JsonNode result(String command) {
    return local.report(command + ".json").get("result");
  }

  private long records(String command, String job, String counter) {
    return counted(command, job, "org.apache.hadoop.mapreduce.TaskCounter", counter);
  }

  private long counted(String command, String job, String group, String counter) {
    for (JsonNode one : local.report(command + ".json").get("jobs")) {
      if (one.get("name").asText().equals(job)) {
        return one.get("counters").get(group).get(counter).asLong();
      }
    }
    throw new AssertionError("no job " + job);
  }

  private static long sum(List<String> lines) {
    return lines.stream().mapToLong(Long::parseLong).sum();
  }

  @ParameterizedTest
  @CsvSource({"1, 12, 0.4, 1", "2, 60, 0.05, 3", "3, 40, 0.8, 2", "4, 90, 0.25, 2"})
  void agreesWithBruteForce(long seed, int vertices, double density, int reduceTasks)
      throws Exception {
    reducers = reduceTasks;
    RandomGraph graph = RandomGraph.of(seed, vertices, density);
    String[] lines = graph.lines(seed);
    NaiveOrder naive = new NaiveOrder(lines);
    for (String command : TRIANGLES) {
      assertEquals(graph.triangles(), sum(run(command, lines)), command);
      checkResult(command, graph, naive);
    }
    for (String command : FRIENDS) {
      assertEquals(graph.mutualFriends(), run(command, lines), command);
      checkResult(command, graph, naive);
      assertEquals(3 * graph.triangles(), result(command).get("mutual_friends").asLong());
      long edges = graph.mutualFriends().size();
      assertEquals(edges, result(command).get("edges_with_mutual_friends").asLong());
    }
    assertEquals(naive.coefficients(), run(CLUSTERING, lines));
    checkResult(CLUSTERING, graph, naive);
    checkGlobals(graph, naive);
    checkRecords(graph, naive);
  }

  private void checkResult(String command, RandomGraph graph, NaiveOrder naive) {
    JsonNode result = result(command);
    assertEquals(graph.vertices(), result.get("vertices").asLong(), command);
    assertEquals(graph.edges(), result.get("edges").asLong(), command);
    assertEquals(naive.wedges(), result.get("wedges").asLong(), command);
    assertEquals(graph.triangles(), result.get("triangles").asLong(), command);
  }

  private void checkGlobals(RandomGraph graph, NaiveOrder naive) {
    JsonNode result = result(CLUSTERING);
    double global = naive.allWedges() == 0 ? 0 : 3.0 * graph.triangles() / naive.allWedges();
    assertEquals(naive.allWedges(), result.get("all_wedges").asLong());
    assertEquals(3 * graph.triangles(), result.get("corners").asLong());
    assertEquals(global, result.get("global_coefficient").asDouble(), 1e-15);
    assertEquals(naive.average(), result.get("average_coefficient").asDouble(), 1e-9);
  }

  private void checkRecords(RandomGraph graph, NaiveOrder naive) {
    long pairs = graph.edges() + naive.wedges();
    assertEquals(pairs, records("triangles-tuned", "triads", "REDUCE_OUTPUT_RECORDS"));
    assertEquals(pairs, records("triangles-tuned", "closing", "MAP_OUTPUT_RECORDS"));
    assertEquals(pairs, records("mutual-friends-tuned", "closing", "MAP_OUTPUT_RECORDS"));
    for (String command : FRIENDS) {
      assertEquals(3 * graph.triangles(), records(command, "lists", "MAP_OUTPUT_RECORDS"));
    }
    for (String command : TRIANGLES) {
      long lone = naive.lone();
      assertEquals(2 * graph.edges() + lone, records(command, "degrees", "MAP_OUTPUT_RECORDS"));
    }
    String written = "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter";
    long bytes = counted("triangles-tuned", "triads", written, "BYTES_WRITTEN");
    // The local file system counts its checksum files too: 4 bytes for 512, and a head in each.
    long text = naive.triadBytes();
    assertTrue(text <= bytes && bytes <= text + text / 128 + 16L * reducers, bytes + " of " + text);
    String sent = "MAP_OUTPUT_RECORDS";
    long lists = graph.vertices() + naive.partsSent();
    assertEquals(lists, records("triangles-intersect", "intersection", sent));
  }

  @Test
  void graphsWithoutATriangleGiveZero() throws Exception {
    for (String command : TRIANGLES) {
      assertEquals(0, sum(run(command, "0\t1", "0\t2", "0\t3")), command);
      assertEquals(0, result(command).get("wedges").asLong(), "a star's edges lead to its centre");
      assertEquals(List.of("0", "0"), run(command, "5", "7"), "a line of each reduce task");
    }
    for (String command : FRIENDS) {
      assertEquals(List.of(), run(command, "0\t1", "0\t2", "0\t3"), command);
      assertEquals(List.of(), run(command, "5", "7"), command);
    }
  }

  @Test
  void verticesWithFewerThanTwoNeighboursHaveCoefficientZero() throws Exception {
    assertEquals(
        List.of("0\t1\t0\t0.0", "1\t1\t0\t0.0", "9\t0\t0\t0.0"), run(CLUSTERING, "9", "0\t1"));
    assertEquals(0.0, result(CLUSTERING).get("global_coefficient").asDouble());
    assertEquals(List.of("5\t0\t0\t0.0"), run(CLUSTERING, "5"));
  }

  @Test
  void cliqueOfEqualDegreesIsOrderedByNumber() throws Exception {
    List<String> edges = new ArrayList<>();
    for (int u = 0; u < 7; u++) {
      for (int v = u + 1; v < 7; v++) {
        edges.add(u + "\t" + v);
      }
    }
    for (String command : TRIANGLES) {
      assertEquals(35, sum(run(command, edges.toArray(new String[0]))), command);
      assertEquals(35, result(command).get("wedges").asLong(), command);
    }
  }

  @Test
  void largestAndSmallestIdsSurviveAndRepeatedEdgesAddNothing() throws Exception {
    String largest = String.valueOf(Long.MAX_VALUE);
    String[] edges = {"0\t1", "0\t1", "0\t" + largest, "1\t" + largest, "1\t" + largest};
    for (String command : TRIANGLES) {
      assertEquals(1, sum(run(command, edges)), command);
    }
    for (String command : FRIENDS) {
      assertEquals(
          List.of("0\t1\t" + largest, "0\t" + largest + "\t1", "1\t" + largest + "\t0"),
          run(command, edges),
          command);
    }
    assertEquals(
        List.of("0\t2\t1\t1.0", "1\t2\t1\t1.0", largest + "\t2\t1\t1.0"), run(CLUSTERING, edges));
  }
}

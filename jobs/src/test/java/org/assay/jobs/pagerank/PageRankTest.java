package org.assay.jobs.pagerank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.io.Text;
import org.assay.jobs.LocalRun;
import org.assay.jobs.graph.MalformedLineException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PageRank gives what a naive computation gives, with dangling and isolated vertices. */
class PageRankTest {
  private static final long LARGEST = Long.MAX_VALUE;

  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private Map<Long, Double> run(String command, int reducers, String... more) throws Exception {
    List<String> args = new ArrayList<>();
    args.addAll(List.of(command, local.path("edges"), local.path(command)));
    args.addAll(List.of("--report", local.path("report.json")));
    args.addAll(Arrays.asList(more));
    assertEquals(0, local.run(reducers, args.toArray(new String[0])), local.complaint());
    assertFalse(local.exists(command + ".work"), "intermediates are gone");
    Map<Long, Double> ranks = new TreeMap<>();
    for (String line : local.output(command)) {
      String[] fields = line.split("\t", -1);
      assertEquals(null, ranks.put(Long.valueOf(fields[0]), Double.valueOf(fields[1])));
    }
    return ranks;
  }

  private JsonNode result(String name) {
    return local.report("report.json").get("result").get(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"page-rank", "page-rank-tuned"})
  void twoVerticesByHand(String command) throws Exception {
    // One edge, so vertex 2 dangles: x = 0.5 (1 - c) + 0.5 c y, y = x + c x, x + y = 1.
    local.write("edges/a.txt", "1\t2", "1\t2");
    Map<Long, Double> ranks = run(command, 2, "--tolerance", "1e-9", "--damping", "0.1");
    double x = 1 / 2.1;
    assertEquals(x, ranks.get(1L), 1e-10);
    assertEquals(1 - x, ranks.get(2L), 1e-10);
    assertEquals(1, result("converged").asInt());
    assertEquals(1, result("edges").asInt(), "an edge listed twice counts once");
    assertEquals(1, result("dangling_vertices").asInt());
    assertEquals(1.0, result("rank_sum").asDouble(), 1e-15);
    assertTrue(result("change").asDouble() < 1e-9);
  }

  @ParameterizedTest
  @ValueSource(strings = {"page-rank", "page-rank-tuned"})
  void isolatedVerticesAndLoopsHaveTheirRank(String command) throws Exception {
    local.write("edges/a.txt", "7", "0\t0", "0\t" + LARGEST, LARGEST + "\t0", "9");
    Map<Long, Double> ranks = run(command, 3, "--iterations", "1");
    assertEquals(List.of(0L, 7L, 9L, LARGEST), new ArrayList<>(ranks.keySet()));
    double even = (0.15 + 0.85 * 0.5) / 4;
    assertEquals(even, ranks.get(7L), 1e-16);
    assertEquals(even, ranks.get(9L), 1e-16);
    assertEquals(even + 0.85 * 0.125, ranks.get(LARGEST), 1e-16);
    assertEquals(even + 0.85 * 0.375, ranks.get(0L), 1e-16);
    assertEquals(0, result("converged").asInt());
    assertEquals(1, result("iterations").asInt());
    assertEquals(4, result("vertices").asInt());
    assertEquals(2, result("dangling_vertices").asInt());
  }

  @ParameterizedTest
  @CsvSource({"1, 40, 60, 1, 0.85", "2, 60, 500, 3, 0.5", "3, 300, 200, 2, 0.95"})
  void agreesWithANaiveComputation(long seed, int vertices, int edges, int reducers, String damping)
      throws Exception {
    Random random = new Random(seed);
    Map<Integer, Set<Integer>> targets = new TreeMap<>();
    List<String> lines = new ArrayList<>();
    for (int v = 0; v < vertices; v++) {
      targets.put(v, new TreeSet<>());
      lines.add("" + v);
    }
    for (int i = 0; i < edges; i++) {
      int source = random.nextInt(vertices / 2);
      int target = random.nextInt(vertices);
      targets.get(source).add(target);
      lines.add(source + "\t" + target);
    }
    local.write("edges/a.txt", lines.subList(0, vertices).toArray(new String[0]));
    local.write("edges/b.txt", lines.subList(vertices, lines.size()).toArray(new String[0]));
    String[] options = {"--damping", damping, "--tolerance", "1e-2", "--iterations", "5"};
    for (String command : List.of("page-rank", "page-rank-tuned")) {
      Map<Long, Double> ranks = run(command, reducers, options);
      double[] expected = naive(targets, Double.parseDouble(damping), result("iterations").asInt());
      assertEquals(vertices, ranks.size());
      for (int v = 0; v < vertices; v++) {
        assertEquals(expected[v], ranks.get((long) v), 1e-14);
      }
      assertEquals(expected[vertices], result("change").asDouble(), 1e-14);
      assertEquals(expected[vertices] < 1e-2 ? 1 : 0, result("converged").asInt());
      assertEquals(1.0, result("rank_sum").asDouble(), 1e-14);
      long distinct = targets.values().stream().mapToLong(Set::size).sum();
      assertEquals(distinct, result("edges").asLong());
    }
  }

  /** The ranks, and after them how much the last iteration changed them. */
  private static double[] naive(
      Map<Integer, Set<Integer>> targets, double damping, int iterations) {
    int vertices = targets.size();
    double[] ranks = new double[vertices];
    Arrays.fill(ranks, 1.0 / vertices);
    double change = 0;
    for (int i = 0; i < iterations; i++) {
      double[] next = new double[vertices];
      Arrays.fill(next, (1 - damping) / vertices);
      for (int u = 0; u < vertices; u++) {
        Set<Integer> its = targets.get(u);
        for (int v = 0; v < vertices; v++) {
          double share = its.isEmpty() ? 1.0 / vertices : its.contains(v) ? 1.0 / its.size() : 0;
          next[v] += damping * ranks[u] * share;
        }
      }
      change = 0;
      for (int v = 0; v < vertices; v++) {
        change += Math.abs(next[v] - ranks[v]);
      }
      ranks = next;
    }
    double[] all = Arrays.copyOf(ranks, vertices + 1);
    all[vertices] = change;
    return all;
  }

  @Test
  void jobsAndRecordsAreThoseOfTheFormula() throws Exception {
    local.write("edges/a.txt", "1\t2", "2\t3", "3\t1", "3\t4", "5");
    run("page-rank", 2, "--iterations", "2");
    assertEquals(List.of("vertices", "join 1", "sum 1", "join 2", "sum 2"), names());
    for (int job = 1; job < 5; job++) {
      assertEquals(4 + 5, counter(job, "REDUCE_INPUT_RECORDS"), "edges and vertices");
    }
    run("page-rank-tuned", 2, "--iterations", "2");
    assertEquals(List.of("adjacency", "iteration 1", "iteration 2", "ranks"), names());
    assertEquals(4 + 5, counter(1, "MAP_OUTPUT_RECORDS"));
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    local.report("report.json").get("jobs").forEach(job -> names.add(job.get("name").asText()));
    return names;
  }

  private long counter(int job, String name) {
    JsonNode counters = local.report("report.json").get("jobs").get(job).get("counters");
    return counters.get("org.apache.hadoop.mapreduce.TaskCounter").get(name).asLong();
  }

  @Test
  void aLineThatIsNoEdgeIsMalformed() {
    DirectedEdge edge = new DirectedEdge();
    for (String line : List.of("1\tx", "1\t2\t3", "", "-1\t2")) {
      assertThrows(MalformedLineException.class, () -> edge.read(new Text(line)), line);
    }
  }

  @Test
  void whatCantBeUsedIsRefused() throws Exception {
    String edges = local.write("edges/a.txt", "1\tx");
    String out = local.path("out");
    assertEquals(1, local.run(1, "page-rank", edges, out));
    assertEquals(1, local.run(1, "page-rank", local.write("three", "1\t2\t3"), out));
    for (String option : List.of("--damping=1", "--damping=x", "--tolerance=0", "--iterations=0")) {
      assertEquals(2, local.run(1, "page-rank-tuned", edges, out, option), option);
    }
    assertFalse(local.exists("out"));
  }
}

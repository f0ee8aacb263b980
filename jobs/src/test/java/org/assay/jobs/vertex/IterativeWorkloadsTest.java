package org.assay.jobs.vertex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.assay.jobs.LocalRun;
import org.assay.jobs.RandomGraph;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each iterative workload gives every vertex the value that a slow computation gives it. */
class IterativeWorkloadsTest {
  private static final long FAR = 1L << 62;

  /** Stars alone. */
  private static final String NO_MEMORY = "--vertices-in-memory=0";

  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private SortedMap<Long, Long> run(int reducers, String[] edges, String command, String... options)
      throws Exception {
    String input = local.write("graph/edges.txt", edges);
    List<String> args = new ArrayList<>(List.of(command, input, local.path(command)));
    args.addAll(List.of("--report", local.path("report.json")));
    args.addAll(Arrays.asList(options));
    assertEquals(0, local.run(reducers, args.toArray(new String[0])), local.complaint());
    assertFalse(local.exists(command + ".work"), "intermediates are gone");
    SortedMap<Long, Long> values = new TreeMap<>();
    for (String line : local.output(command)) {
      String[] fields = line.split("\t", -1);
      Long before = values.put(Long.parseLong(fields[0]), Long.parseLong(fields[1]));
      assertEquals(null, before, "vertex " + fields[0] + " appears twice");
    }
    return values;
  }

  private long result(String name) {
    return local.report("report.json").get("result").get(name).asLong();
  }

  private JsonNode jobs() {
    return local.report("report.json").get("jobs");
  }

  @ParameterizedTest
  @CsvSource({"1, 12, 0.4, 1", "2, 40, 0.06, 3", "3, 25, 0.8, 2"})
  void randomGraphs(long seed, int vertices, double density, int reducers) throws Exception {
    String[] edges = RandomGraph.of(seed, vertices, density).lines(seed);
    NaiveAnswers naive = new NaiveAnswers(edges);
    assertEquals(naive.components(), run(reducers, edges, "components-tuned"));
    assertEquals(Set.copyOf(naive.components().values()).size(), result("components"));
    assertEquals(naive.components().size(), result("vertices"));
    assertEquals(naive.cores(), run(reducers, edges, "k-core"));
    assertEquals(naive.cores().values().stream().mapToLong(core -> core).sum(), result("core_sum"));
    assertEquals(naive.labels(3), run(reducers, edges, "label-propagation", "--iterations", "3"));
    checkDistances(naive, run(reducers, edges, "breadth-first-distances"), naive.smallest());
  }

  private void checkDistances(NaiveAnswers naive, SortedMap<Long, Long> found, Long... sources) {
    SortedMap<Long, Long> expected = naive.distances(List.of(sources));
    assertEquals(expected, found);
    TreeSet<Long> reached = new TreeSet<>(expected.keySet());
    reached.removeIf(vertex -> expected.get(vertex) < 0);
    long levels = Collections.max(expected.values());
    assertEquals(reached.size(), result("reached"));
    assertEquals(levels, result("levels"));
    assertEquals(levels + 1, result("iterations"));
    assertEquals(naive.degreeSum(reached), result("messages"));
  }

  @Test
  void idsFromZeroToTheLargestAndLoneVerticesSurvive() throws Exception {
    String[] edges = {"0", "1\t" + FAR, FAR + "\t" + (FAR + 1), "7", Long.MAX_VALUE + ""};
    NaiveAnswers naive = new NaiveAnswers(edges);
    for (int reducers : new int[] {1, 3}) {
      local = new LocalRun(directory.resolve("reducers-" + reducers));
      assertEquals(naive.components(), run(reducers, edges, "components-tuned"));
      assertEquals(4, result("components"));
      assertEquals(naive.cores(), run(reducers, edges, "k-core"));
      assertEquals(naive.labels(5), run(reducers, edges, "label-propagation"));
      checkDistances(naive, run(reducers, edges, "breadth-first-distances"), 0L);
    }
  }

  @Test
  void starsTakeTwoJobsToSeeThatNothingChanges() throws Exception {
    run(2, new String[] {"0\t1", "0\t2", "0\t3", "5\t6", "9"}, "components-tuned", NO_MEMORY);
    assertEquals(2, result("iterations"));
    assertEquals("large-star 1", jobs().get(0).get("name").asText());
    assertEquals("small-star 1", jobs().get(1).get("name").asText());
  }

  @Test
  void aLongPathTakesTwoJobsPerDoublingAtMost() throws Exception {
    List<String> edges = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int next = (i + 1) * 37 % 101;
      edges.add(Math.min(i * 37 % 101, next) + "\t" + Math.max(i * 37 % 101, next));
    }
    String[] lines = edges.toArray(new String[0]);
    assertEquals(
        new NaiveAnswers(lines).components(), run(2, lines, "components-tuned", NO_MEMORY));
    assertTrue(result("iterations") <= 14, () -> result("iterations") + " jobs");
  }

  @Test
  void theFirstJobSendsEachEdgeTwiceAndTheCombinerDropsEqualPairs() throws Exception {
    String[] edges = RandomGraph.of(6, 30, 0.2).lines(6);
    NaiveAnswers naive = new NaiveAnswers(edges);
    run(1, edges, "components-tuned", NO_MEMORY);
    long sent = naive.degreeSum() + naive.loneVertices();
    String group = "org.assay.jobs.components.StarCounter";
    assertEquals(sent, jobs().get(0).get("counters").get(group).get("SENT").asLong());
    JsonNode second = jobs().get(1).get("counters").get("org.apache.hadoop.mapreduce.TaskCounter");
    long distinct = second.get("COMBINE_OUTPUT_RECORDS").asLong();
    assertTrue(distinct < second.get("MAP_OUTPUT_RECORDS").asLong());
    assertEquals(distinct, second.get("REDUCE_INPUT_RECORDS").asLong());
  }

  @Test
  void distancesAreFromTheNearestSource() throws Exception {
    String[] edges = {"0\t1", "1\t2", "2\t3", "3\t4", "4\t5", "8\t9"};
    NaiveAnswers naive = new NaiveAnswers(edges);
    SortedMap<Long, Long> found = run(2, edges, "breadth-first-distances", "--from", "5+0 5");
    checkDistances(naive, found, 0L, 5L);
    assertEquals(-1, found.get(9L));
  }

  @Test
  void aSourceThatIsNoVertexIsRefusedAfterTheFirstJob() throws Exception {
    String input = local.write("edges.txt", "0\t1", "1\t2");
    String[] args = {
      "breadth-first-distances",
      input,
      local.path("out"),
      "--from",
      "7+1+8",
      "--report",
      local.path("report.json")
    };
    assertEquals(2, local.run(2, args));
    assertTrue(local.complaint().contains("no vertex of the graph: 7, 8;"), local.complaint());
    assertEquals(1, local.complaint().lines().count(), local.complaint());
    assertEquals(1, jobs().size());
    assertFalse(local.exists("out"));
    assertFalse(local.exists("out.work"));
  }

  @Test
  void sourcesThatAreNoNumbersAreRefused() throws Exception {
    String input = local.write("edges.txt", "0\t1");
    for (String from : new String[] {"x", "", "-1", "1,2", "+1"}) {
      String[] args = {"breadth-first-distances", input, local.path("out"), "--from=" + from};
      assertEquals(2, local.run(1, args), from);
      assertTrue(local.complaint().contains("--from must be 1 to 32"), local.complaint());
    }
  }

  @Test
  void cliquesHaveOneIterationAndEachEdgeTwoMessages() throws Exception {
    String[] edges = {"0\t1", "0\t2", "0\t3", "1\t2", "1\t3", "2\t3"};
    SortedMap<Long, Long> cores = run(2, edges, "k-core");
    assertEquals(Set.of(3L), Set.copyOf(cores.values()));
    assertEquals(1, result("iterations"));
    assertEquals(12, result("messages"));
  }

  @Test
  void labelsThatAlternateEndAtTheBound() throws Exception {
    List<String> edges = new ArrayList<>();
    for (int left = 0; left < 8; left += 2) {
      for (int right = 1; right < 8; right += 2) {
        edges.add(Math.min(left, right) + "\t" + Math.max(left, right));
      }
    }
    String[] lines = edges.toArray(new String[0]);
    for (int bound : new int[] {4, 5}) {
      local = new LocalRun(directory.resolve("bound-" + bound));
      assertEquals(
          new NaiveAnswers(lines).labels(bound),
          run(2, lines, "label-propagation", "--iterations", "" + bound));
      assertEquals(bound, result("iterations"));
      assertTrue(result("changed") > 0);
    }
  }

  @Test
  void labelsThatAgreeEndEarly() throws Exception {
    run(2, new String[] {"0\t1", "0\t2", "1\t2", "7\t8"}, "label-propagation");
    assertEquals(2, result("iterations"));
    assertEquals(0, result("changed"));
    assertEquals(16, result("messages"));
  }

  @Test
  void linesThatAreNotCanonicalAreRefusedByTheFirstJob() throws Exception {
    String input = local.write("edges.txt", "2\t1");
    for (String command : List.of("components-tuned", "k-core", "label-propagation")) {
      assertEquals(1, local.run(1, command, input, local.path("out")));
      assertFalse(local.exists("out"));
    }
  }
}

package org.assay.jobs.triangles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** Triangles by parts are those of brute force, each counted once whatever parts it lies in. */
class PartitionTrianglesTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private long run(int reducers, int inMemory, String... lines) throws Exception {
    String name = "out-" + inMemory + "-" + lines.length;
    String input = local.write(name + ".txt", lines);
    String[] args = {
      "triangles-partition",
      input,
      local.path(name),
      "--edges-in-memory=" + inMemory,
      "--report",
      local.path("report.json")
    };
    assertEquals(0, local.run(reducers, args), local.complaint());
    assertFalse(local.exists(name + ".work"));
    List<String> output = local.output(name);
    assertEquals(reducers, output.size(), "a line of each reduce task");
    return output.stream().mapToLong(Long::parseLong).sum();
  }

  private long result(String name) {
    return local.report("report.json").get("result").get(name).asLong();
  }

  @ParameterizedTest
  @CsvSource({"1, 60, 0.3, 3", "2, 90, 0.6, 2", "3, 150, 0.05, 1"})
  void agreesWithBruteForceInAnyNumberOfParts(long seed, int vertices, double density, int reducers)
      throws Exception {
    RandomGraph graph = RandomGraph.of(seed, vertices, density);
    String[] lines = graph.lines(seed);
    for (int inMemory : new int[] {(int) graph.edges(), 4 * lines.length, 1_000_000}) {
      assertEquals(graph.triangles(), run(reducers, inMemory, lines));
      assertEquals(graph.triangles(), result("triangles"));
      assertEquals(graph.edges(), result("edges"));
    }
    assertEquals(1, result("parts"));
  }

  @Test
  void aGraphThatDoesNotFitIsCutIntoPartsThatDo() throws Exception {
    RandomGraph graph = RandomGraph.of(7, 80, 0.5);
    assertEquals(graph.triangles(), run(2, (int) graph.edges() * 2 / 3, graph.lines(7)));
    assertTrue(result("parts") >= 3);
  }

  @Test
  void starsAndLoneVerticesHaveNoneAndRepeatedEdgesAddNothing() throws Exception {
    assertEquals(0, run(2, 1000, "0\t1", "0\t2", "0\t3"));
    assertEquals(0, run(2, 1000, "5", "7"));
    String largest = String.valueOf(Long.MAX_VALUE);
    String[] edges = {"0\t1", "0\t1", "0\t" + largest, "1\t" + largest, "1\t" + largest};
    assertEquals(1, run(1, 1000, edges));
  }

  @Test
  void edgesThatDoNotFitAllTheSameFailTheJob() throws Exception {
    List<String> edges = new ArrayList<>();
    for (int vertex = 1; vertex < 9; vertex++) {
      edges.add("0\t" + vertex);
    }
    String input = local.write("edges.txt", edges.toArray(new String[0]));
    String[] args = {"triangles-partition", input, local.path("out"), "--edges-in-memory=6"};
    assertEquals(1, local.run(1, args));
    assertTrue(local.complaint().contains("counting"), local.complaint());
    assertFalse(local.exists("out"));
  }

  @Test
  void boundsThatCannotBeAreRefused() throws Exception {
    String input = local.write("edges.txt", "0\t1", "100\t200");
    for (String bound : new String[] {"0", "536870913", "x"}) {
      String[] args = {"triangles-partition", input, local.path("out"), "--edges-in-memory", bound};
      assertEquals(2, local.run(1, args), bound);
      assertTrue(local.complaint().contains("--edges-in-memory must be"), local.complaint());
    }
  }

  @Test
  void edgesOfOnePartAndOfSeveralBlocksAreCountedOnce() {
    EdgesInMemory graph = new EdgesInMemory();
    for (int round = 0; round < 2; round++) {
      for (long vertex = 0; vertex < 20; vertex++) {
        for (long other = vertex + 1; other < 20; other++) {
          graph.add(vertex, other);
        }
      }
      assertEquals(190, graph.edges());
      assertEquals(1140, graph.triangles(vertex -> 1, 3));
      // Of 10 even and 10 odd vertices: two even ones and an odd one.
      assertEquals(450, graph.triangles(vertex -> (int) vertex % 2, 1));
      graph.clear();
    }
    assertEquals(0, graph.triangles(vertex -> 0, 0));
  }
}

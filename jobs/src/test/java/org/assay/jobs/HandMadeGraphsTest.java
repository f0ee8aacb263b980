package org.assay.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every workload gives the known answer on graphs small enough to check by hand. */
class HandMadeGraphsTest {
  private static final long LARGEST = Long.MAX_VALUE;

  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private List<String> run(String command, String... edges) throws Exception {
    String input = local.write("edges.txt", edges);
    String[] args = {command, input, local.path(command), "--report", local.path("report.json")};
    assertEquals(0, local.run(2, args), local.complaint());
    return local.output(command);
  }

  private long result(String name) {
    return local.report("report.json").get("result").get(name).asLong();
  }

  @Test
  void starHasNoTriangleAndTheTotalIsStillWritten() throws Exception {
    assertEquals(List.of("0"), run("triangles", "0\t1", "0\t2", "0\t3"));
    assertEquals(3, result("wedges"));
  }

  @Test
  void starHasNoMutualFriends() throws Exception {
    assertEquals(List.of(), run("mutual-friends", "0\t1", "0\t2", "0\t3"));
    assertEquals(6, result("triples"));
  }

  @Test
  void onlyLoneVerticesGiveZeroTriangles() throws Exception {
    assertEquals(List.of("0"), run("triangles", "5", "7"));
  }

  @Test
  void cliqueHasEveryTriangle() throws Exception {
    List<String> edges = new ArrayList<>();
    for (int u = 0; u < 7; u++) {
      for (int v = u + 1; v < 7; v++) {
        edges.add(u + "\t" + v);
      }
    }
    assertEquals(List.of("35"), run("triangles", edges.toArray(new String[0])));
  }

  @Test
  void largestAndSmallestIdsSurvive() throws Exception {
    String[] edges = {"0\t1", "0\t" + LARGEST, "1\t" + LARGEST};
    assertEquals(List.of("1"), run("triangles", edges));
    assertEquals(
        List.of("0\t1\t" + LARGEST, "0\t" + LARGEST + "\t1", "1\t" + LARGEST + "\t0"),
        run("mutual-friends", edges));
  }

  @Test
  void repeatedEdgesAddNothing() throws Exception {
    String[] edges = {"1\t2", "1\t2", "1\t3", "1\t3", "2\t3", "2\t3"};
    assertEquals(List.of("1"), run("triangles", edges));
    assertEquals(List.of("1\t2\t3", "1\t3\t2", "2\t3\t1"), run("mutual-friends", edges));
  }

  @Test
  void keysOfDifferentVerticesDoNotCollide() throws Exception {
    assertEquals(List.of("0"), run("triangles", "0\t1", "0\t23", "12\t3000"));
  }

  @Test
  void literalLoopsEmitOneMoreRecordPerFriendWithTheSameResult() throws Exception {
    RandomGraph graph = RandomGraph.of(9, 20, 0.4);
    String input = local.write("edges.txt", graph.lines(9));
    String report = local.path("report.json");
    String[] args = {
      "mutual-friends", input, local.path("out"), "--literal-loops", "--report", report
    };
    assertEquals(0, local.run(2, args));
    assertEquals(graph.mutualFriends(), local.output("out"));
    assertEquals(graph.squaredDegrees(), result("triples"));
  }

  @Test
  void pathTakesOneIterationPerHopAndOneToSeeTheEnd() throws Exception {
    List<String> output = run("components", "0\t1", "1\t2", "2\t3", "3\t4", "4\t5");
    assertEquals("5\t0\t0\t4", output.get(5));
    assertEquals(6, result("iterations"));
    assertEquals(1, result("components"));
  }

  @Test
  void loneVerticesAreComponents() throws Exception {
    assertEquals(List.of("3\t3\t0\t9", "7\t7\t0\t", "9\t3\t0\t3"), run("components", "7", "3\t9"));
    assertEquals(2, result("iterations"));
    assertEquals(2, result("components"));
  }

  @Test
  void friendListsHaveBothDirectionsAndLoneVertices() throws Exception {
    assertEquals(
        List.of("0 2 10", "10 0 2", "2 0 10", "4"),
        run("friend-lists", "0\t10", "0\t2", "2\t10", "4"));
    assertEquals(3, result("edges"));
  }
}

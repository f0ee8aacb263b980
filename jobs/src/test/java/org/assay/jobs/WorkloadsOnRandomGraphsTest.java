package org.assay.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every workload gives on seeded random graphs what brute force gives, for 1 to 3 reducers. */
class WorkloadsOnRandomGraphsTest {
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"1, 12, 0.4, 1", "2, 30, 0.07, 3", "3, 25, 0.8, 2"})
  void agreesWithBruteForce(long seed, int vertices, double density, int reducers)
      throws Exception {
    RandomGraph graph = RandomGraph.of(seed, vertices, density);
    LocalRun local = new LocalRun(directory);
    String edges = local.write("graph/a.txt", graph.lines(seed));
    for (String command : List.of("triangles", "mutual-friends", "components", "normalise")) {
      String[] args = {
        command, edges, local.path(command), "--report", local.path(command + ".json")
      };
      if (command.equals("normalise")) {
        args = append(args, "--lone-vertices", "allow");
      }
      assertEquals(0, local.run(reducers, args), local.complaint());
      assertFalse(local.exists(command + ".work"), "intermediates are gone");
    }
    checkTriangles(graph, local);
    checkMutualFriends(graph, local);
    checkComponents(graph, local);
    List<String> lines = List.of(graph.lines(seed));
    assertEquals(sorted(lines), local.output("normalise"), "canonical text stays as it is");
  }

  private static void checkTriangles(RandomGraph graph, LocalRun local) throws Exception {
    JsonNode result = local.report("triangles.json").get("result");
    assertEquals(List.of("" + graph.triangles()), local.output("triangles"));
    assertEquals(graph.triangles(), result.get("triangles").asLong());
    assertEquals(graph.wedges(), result.get("wedges").asLong());
    assertEquals(graph.edges(), result.get("edges").asLong());
  }

  private static void checkMutualFriends(RandomGraph graph, LocalRun local) throws Exception {
    JsonNode result = local.report("mutual-friends.json").get("result");
    assertEquals(graph.mutualFriends(), local.output("mutual-friends"));
    assertEquals(graph.triples(), result.get("triples").asLong());
    assertEquals(3 * graph.triangles(), result.get("mutual_friends").asLong());
    assertEquals(graph.mutualFriends().size(), result.get("edges_with_mutual_friends").asLong());
  }

  private static void checkComponents(RandomGraph graph, LocalRun local) throws Exception {
    JsonNode result = local.report("components.json").get("result");
    assertEquals(graph.components(), local.output("components"));
    assertEquals(graph.iterations(), result.get("iterations").asInt());
    assertEquals(graph.vertices(), result.get("vertices").asInt());
    assertEquals(graph.componentCount(), result.get("components").asLong());
  }

  private static String[] append(String[] args, String... more) {
    String[] all = Arrays.copyOf(args, args.length + more.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return all;
  }

  private static List<String> sorted(List<String> lines) {
    List<String> sorted = new ArrayList<>(lines);
    Collections.sort(sorted);
    return sorted;
  }
}

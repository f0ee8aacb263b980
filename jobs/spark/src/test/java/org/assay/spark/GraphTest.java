package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The graph commands against the naive answers for a random graph with lone vertices. */
class GraphTest {
  private static final int VERTICES = 60;
  // Beyond 32 bits: ids are no indices.
  private static final long FIRST = 5_000_000_000L;

  @TempDir Path directory;
  private final TreeMap<Long, TreeSet<Long>> neighbours = new TreeMap<>();
  private LocalRun local;
  private int edges;

  @BeforeEach
  void writesARandomGraph() throws Exception {
    local = new LocalRun(directory);
    Random random = new Random(7);
    for (int i = 0; i < VERTICES; i++) {
      neighbours.put(FIRST + i, new TreeSet<>());
    }
    // Two parts: cliques overlap in the first, the second is a path.
    for (int i = 0; i < 120; i++) {
      link(random.nextInt(30), random.nextInt(30));
    }
    for (int i = 30; i < 50; i++) {
      link(i, i + 1);
    }
    List<String> lines = new ArrayList<>();
    neighbours.forEach(
        (vertex, others) -> {
          others.tailSet(vertex).forEach(other -> lines.add(vertex + "\t" + other));
          if (others.isEmpty()) {
            lines.add(Long.toString(vertex));
          }
        });
    edges = neighbours.values().stream().mapToInt(TreeSet::size).sum() / 2;
    local.write("in/a", lines.subList(0, 40).toArray(new String[0]));
    local.write("in/b", lines.subList(40, lines.size()).toArray(new String[0]));
  }

  private void link(int one, int other) {
    if (one != other) {
      neighbours.get(FIRST + one).add(FIRST + other);
      neighbours.get(FIRST + other).add(FIRST + one);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"components-rdd", "components-graphx"})
  void givesEachVertexTheSmallestOfItsComponent(String command) throws Exception {
    JsonNode result = local.result("out", command);
    List<String> expected = new ArrayList<>();
    TreeSet<Long> smallest = new TreeSet<>();
    for (long vertex : neighbours.keySet()) {
      long component = smallestReached(vertex);
      smallest.add(component);
      expected.add(vertex + "\t" + component);
    }
    assertEquals(expected, local.sorted("out"));
    assertEquals(smallest.size(), result.get("components").asInt());
  }

  @Test
  void saysThatVerticesStillChange() throws Exception {
    String[] arguments = {"components-rdd", local.path("in"), local.path("out")};
    assertEquals(
        Main.BAD_USAGE, local.run(arguments[0], arguments[1], arguments[2], "--max-iterations=1"));
    assertTrue(local.complaint().contains("still change after 1 iterations"), local.complaint());
    assertFalse(local.exists("out"));
  }

  private long smallestReached(long start) {
    TreeSet<Long> reached = new TreeSet<>(List.of(start));
    List<Long> left = new ArrayList<>(List.of(start));
    while (!left.isEmpty()) {
      for (long other : neighbours.get(left.remove(left.size() - 1))) {
        if (reached.add(other)) {
          left.add(other);
        }
      }
    }
    return reached.first();
  }

  @ParameterizedTest
  @ValueSource(strings = {"triangles-rdd", "triangles-graphx"})
  void countsTriangles(String command) throws Exception {
    JsonNode result = local.result("out", command);
    int expected = friends().values().stream().mapToInt(List::size).sum() / 3;
    assertTrue(expected > 20, "the graph has " + expected);
    assertEquals(List.of(Integer.toString(expected)), local.lines("out"));
    assertEquals(expected, result.get("triangles").asInt());
    assertEquals(VERTICES, result.get("vertices").asInt());
    assertEquals(edges, result.get("edges").asInt());
    if (command.endsWith("rdd")) {
      assertEquals(wedges(), result.get("wedges").asInt());
    }
  }

  @Test
  void listsMutualFriendsOfEachEdge() throws Exception {
    JsonNode result = local.result("out", "mutual-friends-rdd");
    List<String> expected = new ArrayList<>();
    friends()
        .forEach(
            (edge, friends) ->
                expected.add(
                    edge
                        + "\t"
                        + friends.stream().map(Object::toString).collect(Collectors.joining(" "))));
    assertEquals(expected, local.sorted("out"));
    int total = friends().values().stream().mapToInt(List::size).sum();
    assertEquals(total, result.get("mutual_friends").asInt());
    assertEquals(total / 3, result.get("triangles").asInt());
    assertEquals(wedges(), result.get("wedges").asInt());
  }

  private Map<String, List<Long>> friends() {
    Map<String, List<Long>> friends = new TreeMap<>();
    neighbours.forEach(
        (vertex, others) -> {
          for (long other : others.tailSet(vertex)) {
            TreeSet<Long> common = new TreeSet<>(others);
            common.retainAll(neighbours.get(other));
            if (!common.isEmpty()) {
              friends.put(vertex + "\t" + other, new ArrayList<>(common));
            }
          }
        });
    return friends;
  }

  private int wedges() {
    int wedges = 0;
    for (var entry : neighbours.entrySet()) {
      int degree = entry.getValue().size();
      int leaving = 0;
      for (long other : entry.getValue()) {
        int otherDegree = neighbours.get(other).size();
        leaving +=
            degree < otherDegree || (degree == otherDegree && entry.getKey() < other) ? 1 : 0;
      }
      wedges += leaving * (leaving - 1) / 2;
    }
    return wedges;
  }

  @ParameterizedTest
  @ValueSource(strings = {"components-rdd", "triangles-graphx", "mutual-friends-rdd"})
  void refusesALineThatIsNotCanonical(String command) throws Exception {
    local.write("in/c", "7\t3");
    assertEquals(Main.BAD_USAGE, local.run(command, local.path("in"), local.path("out")));
    assertTrue(
        local.complaint().contains("\"7 3\" is not a line of a canonical graph"),
        local.complaint());
    assertFalse(local.exists("out"));
  }
}

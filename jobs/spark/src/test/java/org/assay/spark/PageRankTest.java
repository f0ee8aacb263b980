package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageRankTest {
  private static final int VERTICES = 20;

  @TempDir Path directory;
  private final List<TreeSet<Integer>> targets = new ArrayList<>();
  private LocalRun local;

  @BeforeEach
  void writesARandomGraph() throws Exception {
    local = new LocalRun(directory);
    Random random = new Random(3);
    List<String> lines = new ArrayList<>();
    for (int vertex = 0; vertex < VERTICES; vertex++) {
      targets.add(new TreeSet<>());
    }
    // The last two have no edge, and some of the others none that leaves them.
    for (int i = 0; i < 40; i++) {
      int source = random.nextInt(12);
      int target = random.nextInt(VERTICES - 2);
      targets.get(source).add(target);
      lines.add(source + "\t" + target);
      lines.add(source + "\t" + target);
    }
    lines.addAll(List.of("18", "19"));
    local.write("in/a", lines.toArray(new String[0]));
  }

  @Test
  void iteratesUntilTheChangeIsBelowTheTolerance() throws Exception {
    JsonNode result = local.result("out", "page-rank-rdd", "--tolerance=1e-4");
    int iterations = result.get("iterations").asInt();
    double[] before = ranks(iterations - 1);
    double[] expected = ranks(iterations);
    double change = 0;
    for (int i = 0; i < VERTICES; i++) {
      change += Math.abs(expected[i] - before[i]);
    }
    assertTrue(iterations > 5 && change < 1e-4, iterations + " iterations, change " + change);
    assertEquals(change, result.get("change").asDouble(), 1e-14);
    assertEquals(1, result.get("converged").asInt());
    assertRanks(expected);
    int edges = targets.stream().mapToInt(TreeSet::size).sum();
    assertEquals(VERTICES, result.get("vertices").asInt());
    assertEquals(edges, result.get("edges").asInt());
    assertEquals(
        targets.stream().filter(TreeSet::isEmpty).count(),
        result.get("dangling_vertices").asLong());
  }

  @Test
  void endsAtTheBound() throws Exception {
    JsonNode result = local.result("out", "page-rank-rdd", "--iterations=3", "--damping=0.85");
    assertEquals(3, result.get("iterations").asInt());
    assertEquals(0, result.get("converged").asInt());
    assertRanks(ranks(3));
  }

  private void assertRanks(double[] expected) throws Exception {
    List<String> lines = local.lines("out");
    assertEquals(VERTICES, lines.size());
    for (String line : lines) {
      String[] fields = line.split("\t", 2);
      assertEquals(expected[Integer.parseInt(fields[0])], Double.parseDouble(fields[1]), 1e-14);
    }
  }

  private double[] ranks(int iterations) {
    double[] ranks = new double[VERTICES];
    Arrays.fill(ranks, 1.0 / VERTICES);
    for (int i = 0; i < iterations; i++) {
      double[] after = new double[VERTICES];
      for (int vertex = 0; vertex < VERTICES; vertex++) {
        TreeSet<Integer> given = targets.get(vertex);
        for (int other = 0; other < VERTICES; other++) {
          double share = given.isEmpty() ? 1.0 / VERTICES : 0;
          share = given.contains(other) ? 1.0 / given.size() : share;
          after[other] += 0.85 * ranks[vertex] * share;
        }
      }
      for (int vertex = 0; vertex < VERTICES; vertex++) {
        ranks[vertex] = after[vertex] + 0.15 / VERTICES;
      }
    }
    return ranks;
  }
}

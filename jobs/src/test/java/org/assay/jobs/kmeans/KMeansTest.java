package org.assay.jobs.kmeans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileUtil;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * K-means gives what a naive computation gives, also where distances are equal or clusters empty.
 */
class KMeansTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private int attempt(String command, int reducers, String centres, String... more)
      throws Exception {
    List<String> args = new ArrayList<>();
    args.addAll(List.of(command, local.path("points"), local.path("out"), "--centres", centres));
    args.addAll(List.of("--report", local.path("report.json")));
    args.addAll(Arrays.asList(more));
    return local.run(reducers, args.toArray(new String[0]));
  }

  private List<String> run(String command, int reducers, String... more) throws Exception {
    assertEquals(0, attempt(command, reducers, local.path("centres"), more), local.complaint());
    assertFalse(local.exists("out.work"), "intermediates are gone");
    return local.output("out/centres");
  }

  private long result(String name) {
    return local.report("report.json").get("result").get(name).asLong();
  }

  @ParameterizedTest
  @ValueSource(strings = {"k-means", "k-means-tuned"})
  void twoGroupsAreFound(String command) throws Exception {
    local.write("points/a.txt", "0,0", "0 2", "", "10\t10.0", "1e1,12\r");
    local.write("centres", "0,0", "10,10");
    assertEquals(List.of("0\t2\t0.0,1.0", "1\t2\t10.0,11.0"), run(command, 2));
    assertEquals(2, result("iterations"));
    assertEquals(4, result("points"));
    assertEquals(2, result("converged"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"k-means", "k-means-tuned"})
  void equalDistancesGoToTheLowestIndex(String command) throws Exception {
    // 0.1 + 0.2 and the like make distances differ in the last digit that are equal on paper.
    local.write("points/a.txt", "0.3,0", "0.1,0", "0.5,0");
    local.write("centres", "0.5,0", "0.1,0", "0.5,0");
    List<String> lines = run(command, 3, "--iterations", "1", "--assign");
    assertEquals(
        List.of("0\t2\t0.4,0.0", "1\t1\t0.1,0.0", "2\t0\t0.5,0.0"), lines, "0.3 and 0.5 to 0");
    assertEquals(List.of("0\t0.3,0", "1\t0.1,0", "2\t0.5,0"), local.output("out/clusters"));
    assertEquals(1, result("empty"));
    assertEquals(3, result("assigned"));
  }

  @ParameterizedTest
  @CsvSource({"k-means, 3", "k-means-tuned, 1", "k-means-tuned, 2", "k-means-tuned, 5"})
  void emptyClustersKeepTheirCentres(String command, int reducers) throws Exception {
    local.write("points/a.txt", "1", "2", "3");
    local.write("centres", "100", "2", "-100", "200");
    assertEquals(
        List.of("0\t0\t100.0", "1\t3\t2.0", "2\t0\t-100.0", "3\t0\t200.0"), run(command, reducers));
    assertEquals(1, result("iterations"));
    assertEquals(4, result("converged"));
    assertEquals(3, result("empty"));
  }

  @ParameterizedTest
  @CsvSource({"1, 300, 2, 5, 3", "2, 500, 4, 7, 2", "3, 50, 1, 20, 4"})
  void agreesWithANaiveComputation(long seed, int points, int dimensions, int k, int reducers)
      throws Exception {
    Random random = new Random(seed);
    double[][] made = new double[points][dimensions];
    String[][] lines = new String[2][points / 2];
    for (int i = 0; i < points; i++) {
      StringBuilder line = new StringBuilder();
      for (int j = 0; j < dimensions; j++) {
        // A coarse grid: ties are frequent, and so are points that are equal.
        made[i][j] = (random.nextInt(21) - 10) / 10.0;
        line.append(j == 0 ? "" : ",").append(made[i][j]);
      }
      lines[i % 2][i / 2] = line.toString();
    }
    local.write("points/a.txt", lines[0]);
    local.write("points/b.txt", lines[1]);
    local.write("centres", Arrays.copyOf(lines[0], k));
    double[][] centres = new double[k][];
    for (int i = 0; i < k; i++) {
      centres[i] = made[2 * i];
    }
    int iterations = naive(made, centres);
    check(centres, run("k-means", 1));
    assertEquals(iterations, result("iterations"));
    FileUtil.fullyDelete(directory.resolve("out").toFile());
    check(centres, run("k-means-tuned", reducers));
    assertEquals(iterations, result("iterations"));
  }

  private static void check(double[][] centres, List<String> lines) {
    assertEquals(centres.length, lines.size());
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      String[] coordinates = fields[2].split(",", -1);
      for (int j = 0; j < coordinates.length; j++) {
        double expected = centres[Integer.parseInt(fields[0])][j];
        assertEquals(expected, Double.parseDouble(coordinates[j]), 1e-12);
      }
    }
  }

  /** Moves the centres until none moves; the number of iterations, the last one without a move. */
  private static int naive(double[][] points, double[][] centres) {
    int iterations = 0;
    boolean moved = true;
    while (moved) {
      moved = false;
      iterations++;
      double[][] sums = new double[centres.length][centres[0].length];
      int[] counts = new int[centres.length];
      for (double[] point : points) {
        int index = nearest(point, centres);
        counts[index]++;
        for (int j = 0; j < point.length; j++) {
          sums[index][j] += point[j];
        }
      }
      for (int i = 0; i < centres.length; i++) {
        double[] before = centres[i].clone();
        centres[i] = before.clone();
        for (int j = 0; j < before.length && counts[i] > 0; j++) {
          centres[i][j] = sums[i][j] / counts[i];
          moved |= Math.abs(centres[i][j] - before[j]) > 1e-9;
        }
      }
    }
    return iterations;
  }

  private static int nearest(double[] point, double[][] centres) {
    int nearest = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < centres.length; i++) {
      double square = 0;
      for (int j = 0; j < point.length; j++) {
        square += Math.pow(point[j] - centres[i][j], 2);
      }
      if (square < least * (1 - 1e-10)) {
        least = square;
        nearest = i;
      }
    }
    return nearest;
  }

  @Test
  void theBoundEndsItWithCentresThatMove() throws Exception {
    local.write("points/a.txt", "0", "1", "2", "3", "10", "11");
    local.write("centres", "0", "1");
    run("k-means", 1, "--iterations", "1");
    assertEquals(1, result("iterations"));
    assertEquals(1, result("converged"));
  }

  @Test
  void paperSendsEveryPointToOneReducerAndTunedOneSumPerCentre() throws Exception {
    String[] points = new String[1000];
    Arrays.setAll(points, i -> i + "," + i % 2);
    local.write("points/a.txt", points);
    local.write("centres", "0,0", "1000,1");
    run("k-means", 3, "--iterations", "1");
    assertEquals(1000, counter("REDUCE_INPUT_RECORDS"));
    FileUtil.fullyDelete(directory.resolve("out").toFile());
    run("k-means-tuned", 2, "--iterations", "1");
    assertEquals(1000, counter("MAP_OUTPUT_RECORDS"));
    assertEquals(2, counter("REDUCE_INPUT_RECORDS"));
  }

  private long counter(String name) {
    JsonNode counters = local.report("report.json").get("jobs").get(0).get("counters");
    return counters.get("org.apache.hadoop.mapreduce.TaskCounter").get(name).asLong();
  }

  @Test
  void numberedCentresKeepTheirIndicesInAnyOrderOfTheirFiles() throws Exception {
    local.write("points/a.txt", "0", "1", "10", "20");
    local.write("centres/a", "2\t0\t20.0", "0\t7\t10.0");
    local.write("centres/b", "1\t0\t0.5");
    List<String> lines = run("k-means", 1, "--numbered", "--iterations", "1");
    assertEquals(List.of("0\t1\t10.0", "1\t2\t0.5", "2\t1\t20.0"), lines);
    for (String wrong : new String[] {"0\t7\t1.0", "3\t7\t1.0", "1.0,2.0", "1\t1.0", "x\t0\t1"}) {
      FileUtil.fullyDelete(directory.resolve("out").toFile());
      local.write("wrong", "0\t0\t20.0", wrong);
      assertEquals(2, attempt("k-means", 1, local.path("wrong"), "--numbered"), wrong);
      assertTrue(local.complaint().contains("has no index of its own"), local.complaint());
    }
  }

  @Test
  void attributesBehindTheWantedOnesTakeNoPart() throws Exception {
    local.write("points/a.txt", "0,7,100,x", "0 9 100", "10\t1", "12,1,-5");
    local.write("centres", "0,0", "10,10");
    assertEquals(
        List.of("0\t2\t0.0,8.0", "1\t2\t11.0,1.0"),
        run("k-means-tuned", 2, "--attributes", "2", "--assign"));
    assertEquals(
        List.of("0\t0 9 100", "0\t0,7,100,x", "1\t10\t1", "1\t12,1,-5"),
        local.output("out/clusters"));
    assertEquals(4, result("assigned"));
  }

  @Test
  void whatCantBeUsedIsRefused() throws Exception {
    local.write("points/a.txt", "1,2", "3");
    String good = local.write("good", "1,2");
    assertEquals(1, attempt("k-means", 1, good));
    assertFalse(local.exists("out"));
    assertEquals(2, attempt("k-means", 1, local.path("nowhere")));
    assertTrue(local.complaint().contains("does not exist"), local.complaint());
    assertEquals(2, attempt("k-means", 1, local.write("uneven", "1,2", "1")));
    assertTrue(local.complaint().contains("unequal numbers"), local.complaint());
    assertEquals(2, attempt("k-means", 1, local.write("blank", " ")));
    assertTrue(local.complaint().contains("is empty"), local.complaint());
    assertEquals(2, attempt("k-means", 1, good, "--iterations", "0"));
  }
}

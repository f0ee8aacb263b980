package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KMeansTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void writesPoints() throws Exception {
    local = new LocalRun(directory);
    local.write("in/a", "0,0", "0 2", "", "10\t10");
    local.write("in/b", "12,10,", "0.0,1e0");
    local.write("centres/c", "2\t0\t100,100", "0\t0\t0,0", "1\t0\t9,9");
  }

  @Test
  void movesCentresToTheMeansOfTheirPointsUntilNoneMoves() throws Exception {
    JsonNode result = run("--assign");
    assertEquals(
        List.of("0\t3\t0.0,1.0", "1\t2\t11.0,10.0", "2\t0\t100.0,100.0"),
        local.lines("out/centres"));
    assertEquals(
        List.of("0\t0 2", "0\t0,0", "0\t0.0,1e0", "1\t10\t10", "1\t12,10,"),
        local.sorted("out/clusters"));
    assertEquals(2, result.get("iterations").asInt());
    assertEquals(3, result.get("converged").asInt());
    assertEquals(5, result.get("points").asInt());
    assertEquals(1, result.get("empty").asInt());
    assertEquals(5, result.get("assigned").asInt());
  }

  @Test
  void endsAtTheBoundAndReadsTheFirstNumbersOnly() throws Exception {
    local.write("centres/c", "0\t0\t1", "1\t0\t2");
    JsonNode result = run("--iterations=1", "--attributes=1");
    assertEquals(List.of("0\t3\t0.0", "1\t2\t11.0"), local.lines("out/centres"));
    assertEquals(1, result.get("iterations").asInt());
    assertEquals(0, result.get("converged").asInt());
  }

  @Test
  void refusesPointsOfAnotherForm() throws Exception {
    refuses("3,x", "\"x\" is not a finite decimal number, in \"3,x\"");
    refuses("1,2,3", "a point has 3 coordinates, and the centres have 2");
  }

  private void refuses(String line, String complaint) throws Exception {
    local.write("in/c", line);
    AssertionError error = assertThrows(AssertionError.class, () -> run());
    assertTrue(error.getMessage().contains(complaint), error.getMessage());
  }

  private JsonNode run(String... options) throws Exception {
    String[] all = new String[options.length + 1];
    all[0] = "--centres=" + local.path("centres");
    System.arraycopy(options, 0, all, 1, options.length);
    return local.result("out", "k-means-rdd", all);
  }
}

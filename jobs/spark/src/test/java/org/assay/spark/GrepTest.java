package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrepTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void writesText() throws Exception {
    local = new LocalRun(directory);
    local.write("in/a", "unit under unit", "a1 a2 a1 b1", "unit");
  }

  @ParameterizedTest
  @ValueSource(strings = {"grep-rdd", "grep-dataframe"})
  void countsMatchesTheMostFrequentFirst(String command) throws Exception {
    JsonNode result = local.result("out", command, "--pattern=un[a-z]+|[ab]\\d");
    List<String> lines = local.lines("out");
    assertEquals(List.of("1\ta2", "1\tb1", "1\tunder", "2\ta1", "3\tunit"), sorted(lines));
    assertEquals(List.of("3", "2", "1", "1", "1"), counts(lines));
    assertEquals(8, result.get("matches").asInt());
    assertEquals(5, result.get("distinct_matches").asInt());
  }

  @ParameterizedTest
  @ValueSource(strings = {"grep-rdd", "grep-dataframe"})
  void countsAGroup(String command) throws Exception {
    local.result("out", command, "--pattern=([ab])(\\d)", "--group=2");
    assertEquals(List.of("3\t1", "1\t2"), local.lines("out"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"grep-rdd", "grep-dataframe"})
  void leavesAnEmptyOutputWhereNothingMatches(String command) throws Exception {
    JsonNode result = local.result("out", command, "--pattern=zz");
    assertEquals(List.of(), local.lines("out"));
    assertEquals(0, result.get("matches").asInt());
  }

  @Test
  void refusesAPatternThatDoesNotCompile() {
    int code = local.run("grep-rdd", local.path("in"), local.path("out"), "--pattern=(");
    assertEquals(Main.BAD_USAGE, code);
    assertTrue(local.complaint().contains("option --pattern cannot be used: "), local.complaint());
  }

  private static List<String> sorted(List<String> lines) {
    return lines.stream().sorted().collect(Collectors.toList());
  }

  private static List<String> counts(List<String> lines) {
    return lines.stream().map(line -> line.split("\t", 2)[0]).collect(Collectors.toList());
  }
}

package org.assay.jobs.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Wrong use is refused before a job starts, and a failed job never looks like a result. */
class WorkloadTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private void assertRefused(String sentence, String... args) throws Exception {
    assertEquals(2, local.run(1, args), local.complaint());
    assertTrue(local.complaint().contains(sentence), local.complaint());
    assertEquals(1, local.complaint().lines().count(), local.complaint());
  }

  @Test
  void anExistingOutputIsRefusedAndStays() throws Exception {
    String input = local.write("in.txt", "1\t2");
    local.write("out/precious", "x");
    assertRefused("already exists", "triangles", input, local.path("out"));
    assertTrue(local.exists("out/precious"));
    local.write("two.work/left", "x");
    assertRefused("already exists", "triangles", input, local.path("two"));
    assertTrue(local.exists("two.work/left"));
  }

  @Test
  void aMissingOrEmptyInputIsRefused() throws Exception {
    assertRefused("does not exist", "components", local.path("no"), local.path("out"));
    Files.createFile(directory.resolve("empty"));
    assertRefused("is empty", "components", local.path("empty"), local.path("out"));
    Files.createDirectory(directory.resolve("folder"));
    local.write("folder/_SUCCESS", "x");
    assertRefused("is empty", "components", local.path("folder"), local.path("out"));
  }

  @Test
  void wrongArgumentsAreRefused() throws Exception {
    String input = local.write("in.txt", "1\t2");
    String output = local.path("out");
    assertRefused("unknown command", "count", input, output);
    assertRefused("expected <input> <output>", "triangles", input);
    assertRefused("unknown option --x", "triangles", input, output, "--x");
    assertRefused("needs a value", "triangles", input, output, "--report");
    assertRefused("before the input", "triangles", input, output, "-Da=b");
    assertRefused("at least 1", "components", input, output, "--max-iterations", "0");
    assertRefused("at least 1", "triangles", "-D", "mapreduce.job.reduces=0", input, output);
    assertRefused("cannot be written", "triangles", input, output, "--report", "/no/such/r");
    assertFalse(local.exists("out"));
  }

  @Test
  void helpIsNotAnError() throws Exception {
    assertEquals(0, local.run(1));
    assertEquals(0, local.run(1, "triangles", "--help"));
  }

  @Test
  void aFailingJobGivesExitCodeOneAndAReport() throws Exception {
    String input = local.write("in.txt", "1\t2", "9\t2");
    String report = local.path("report.json");
    String[] args = {"triangles", input, local.path("out"), "--report", report};
    assertEquals(1, local.run(1, args));
    assertTrue(local.complaint().contains("job 1/3 triads"), local.complaint());
    assertFalse(local.exists("out"));
    assertFalse(local.exists("out.work"));
    JsonNode root = local.report("report.json");
    assertFalse(root.get("succeeded").asBoolean(true));
    assertEquals(1, root.get("jobs").size());
    assertFalse(root.get("jobs").get(0).get("succeeded").asBoolean(true));
    assertTrue(root.get("result").isNull());
  }

  @Test
  void tooManyIterationsAreAFailure() throws Exception {
    String input = local.write("in.txt", "1\t2", "2\t3", "3\t4");
    String[] args = {"components", input, local.path("out"), "--max-iterations", "2"};
    assertEquals(1, local.run(1, args));
    assertTrue(local.complaint().contains("--max-iterations"), local.complaint());
    assertFalse(local.exists("out"));
    assertFalse(local.exists("out.work"));
  }

  @Test
  @Timeout(30)
  void theEndOfAJobIsSeenSoonWhateverItsClientsWait() throws Exception {
    String input = local.write("in.txt", "1\t2", "1\t3", "2\t3");
    String wait = "-Dmapreduce.client.progressmonitor.pollinterval=60000";
    assertEquals(0, local.run(1, "triangles", wait, input, local.path("out")));
  }

  @Test
  void theReportNamesJobsCountersAndSettings() throws Exception {
    String input = local.write("in.txt", "1\t2", "1\t3", "2\t3");
    String report = local.path("report.json");
    String reducers = "mapreduce.job.reduces=3";
    String[] args = {"triangles", "-D", reducers, input, local.path("out"), "--report", report};
    assertEquals(0, local.run(1, args), local.complaint());
    JsonNode root = local.report("report.json");
    assertEquals(1, root.get("schema").asInt());
    assertEquals("triangles", root.get("workload").asText());
    assertTrue(root.get("succeeded").asBoolean());
    assertEquals("3", root.get("settings").get("mapreduce.job.reduces").asText());
    JsonNode closing = root.get("jobs").get(1);
    assertEquals("closing", closing.get("name").asText());
    assertTrue(closing.get("id").asText().startsWith("job_"));
    String group = "org.assay.jobs.triangles.TriangleCounter";
    assertEquals(1, closing.get("counters").get(group).get("TRIANGLES").asLong());
    assertFalse(local.exists("report.json.partial"));
  }
}

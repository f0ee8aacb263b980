package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
  private static final String FIRST_STAGE_IN_HALVES = "(?s).*assay: stage 0 [^\\n]* 50 %\n.*";
  private static final String FULL =
      "(?s).*assay word-count-rdd: [^\\n]*Job aborted due to stage failure: [^\\n]*"
          + "java.io.IOException: No space left on device\n.*";

  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void writesAnInput() throws Exception {
    local = new LocalRun(directory);
    local.write("in/a", "one two");
  }

  @Test
  void reportsTheApplicationAndItsSettings() throws Exception {
    int code =
        local.run(
            "word-count-rdd",
            "-Dspark.shuffle.compress=false",
            "-D",
            "dfs.replication=2",
            local.path("in"),
            local.path("out"),
            "--report",
            local.path("report.json"));
    assertEquals(Main.OK, code, local.complaint());
    JsonNode report = local.report("report.json");
    assertEquals(1, report.get("schema").asInt());
    assertTrue(report.get("succeeded").asBoolean());
    JsonNode job = report.get("jobs").get(0);
    assertEquals("word-count-rdd", job.get("name").asText());
    assertTrue(job.get("id").asText().startsWith("local-"), job.toString());
    JsonNode settings = report.get("settings");
    assertEquals("false", settings.get("spark.shuffle.compress").asText());
    assertEquals("2", settings.get("dfs.replication").asText());
    assertEquals("true", settings.get("spark.shuffle.spill.compress").asText());
    assertFalse(settings.has("spark.driver.host"), settings.toString());
    assertEquals(3, local.parts("out").size());
    assertTrue(local.news().matches("(?s).*assay: stage 1 \\S+ at \\S+ 100 %\n.*"), local.news());
  }

  @ParameterizedTest
  @ValueSource(strings = {"word-count-rdd", "word-count-dataframe"})
  void readsAndWritesThroughTheFormatsThatHadoopNames(String command) throws Exception {
    // This one makes a split of each line, and the other makes no file for an empty partition.
    local.write("in/a", "one", "one", "one");
    String[] formats = {
      "-Dmapreduce.job.inputformat.class=" + NLineInputFormat.class.getName(),
      "-Dmapreduce.job.outputformat.class=" + LazyOutputFormat.class.getName(),
      "-Dmapreduce.output.lazyoutputformat.outputformat=" + TextOutputFormat.class.getName()
    };
    JsonNode result = local.result("out", command, formats);
    assertEquals(3, result.get("words").asInt());
    assertEquals(List.of("one\t3"), local.lines("out"));
    assertEquals(1, local.parts("out").size());
    assertTrue(local.news().contains(" 30 %"), local.news());
  }

  @Test
  void dividesASmallTextAmongTheCoresUnlessItsSplitsHaveASize() throws Exception {
    local.write("in/a", "one", "two");
    local.result("divided", "word-count-rdd");
    assertTrue(local.news().matches(FIRST_STAGE_IN_HALVES), local.news());
    local.result("whole", "word-count-rdd", "-Dmapreduce.input.fileinputformat.split.maxsize=1000");
    assertFalse(local.news().matches(FIRST_STAGE_IN_HALVES), local.news());
    assertEquals(local.sorted("divided"), local.sorted("whole"));
  }

  @Test
  void saysWhyAJobThatWritesFilesWasAborted() throws Exception {
    String format = "-Dmapreduce.job.outputformat.class=" + FullOutputFormat.class.getName();
    assertEquals(
        Main.FAILED, local.run("word-count-rdd", format, local.path("in"), local.path("out")));
    assertTrue(local.complaint().matches(FULL), local.complaint());
    assertFalse(local.exists("out"));
  }

  /** Writes to a medium that is full. */
  public static final class FullOutputFormat extends TextOutputFormat<Object, Object> {
    @Override
    public RecordWriter<Object, Object> getRecordWriter(TaskAttemptContext task)
        throws IOException {
      throw new IOException("No space left on device");
    }
  }

  @Test
  void refusesWhatCanNotBeUsedBeforeAnythingIsWritten() throws Exception {
    local.write("full/a", "x");
    refuses("input .*none does not exist; give .*", "word-count-rdd", local.path("none"));
    local.write("empty/a");
    refuses("input .*empty is empty; give .*", "word-count-rdd", local.path("empty"));
    refuses(
        "unknown option --k=3; known are --report", "word-count-rdd", local.path("in"), "--k=3");
    refuses("unknown command count; --help lists the commands", "count", local.path("in"));
    assertEquals(Main.BAD_USAGE, local.run("word-count-rdd", local.path("in"), local.path("full")));
    assertTrue(local.complaint().contains("already exists"), local.complaint());
    assertTrue(local.exists("full/a"));
  }

  private void refuses(String complaint, String command, String input, String... options) {
    String[] args = new String[3 + options.length];
    args[0] = command;
    args[1] = input;
    args[2] = local.path("out");
    System.arraycopy(options, 0, args, 3, options.length);
    assertEquals(Main.BAD_USAGE, local.run(args));
    assertTrue(
        local.complaint().lines().anyMatch(line -> line.matches("assay.*: " + complaint)),
        local.complaint());
    assertFalse(local.exists("out"));
  }
}

package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WordCountTest {
  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"word-count-rdd", "word-count-dataframe"})
  void countsWhatWhiteSpaceSeparates(String command) throws Exception {
    LocalRun local = new LocalRun(directory);
    local.write("in/a", "  The cat\tsat", "", "on the  mat.");
    local.write("in/b", "the cat ", "don't");
    JsonNode result = local.result("out", command);
    assertEquals(
        List.of("The\t1", "cat\t2", "don't\t1", "mat.\t1", "on\t1", "sat\t1", "the\t2"),
        local.sorted("out"));
    assertEquals(9, result.get("words").asInt());
    assertEquals(7, result.get("distinct_words").asInt());
  }
}

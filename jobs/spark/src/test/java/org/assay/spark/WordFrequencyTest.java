package org.assay.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WordFrequencyTest {
  @TempDir Path directory;

  @Test
  void keepsLettersMarksAndDigitsInLowerCase() {
    assertEquals(List.of("dont", "été", "2nd"), WordFrequency.words("  Don't -- ÉTÉ,\u00a0(2nd)"));
    // The simple mapping has one character for this one, and for a sigma at a word's end.
    assertEquals(List.of("i", "σασ"), WordFrequency.words("\u0130\u001cΣΑΣ"));
    assertEquals(List.of(), WordFrequency.words("½ \ufffd"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"word-frequency-rdd", "word-frequency-dataframe"})
  void countsTheWordsOfAllLines(String command) throws Exception {
    LocalRun local = new LocalRun(directory);
    local.write("in/a", "The cat's", "the CATS; the", "");
    JsonNode result = local.result("out", command);
    assertEquals(List.of("cats\t2", "the\t3"), local.sorted("out"));
    assertEquals(5, result.get("words").asInt());
    assertEquals(2, result.get("distinct_words").asInt());
  }
}

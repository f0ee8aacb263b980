package org.assay.jobs.wordfrequency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.Test;

/** Words are what the tokenising rule says. */
class WordScannerTest {
  private final WordScanner scanner = new WordScanner();

  private List<String> words(Text line) {
    List<String> words = new ArrayList<>();
    scanner.reset(line);
    while (scanner.next()) {
      words.add(scanner.word().toString());
    }
    return words;
  }

  private List<String> words(String line) {
    return words(new Text(line));
  }

  @Test
  void specialCharactersAreRemovedAndJoin() {
    assertEquals(List.of("dont", "wellknown", "end"), words("Don't  well-known, END#"));
  }

  @Test
  void whatIsEmptyIsNoWord() {
    assertEquals(List.of(), words(""));
    assertEquals(List.of(), words(" \t -- !? '' \u2014 "));
    assertEquals(List.of("a"), words("-- A --"));
  }

  @Test
  void digitsStayAndSignsGo() {
    assertEquals(List.of("3rd", "1000", "x2", "\u0663"), words("3rd 1,000 x^2 \u0663"));
    assertEquals(List.of(), words("\u00b2 \u2460 _"), "numbers that are no decimal digits");
  }

  @Test
  void lettersOfAllScriptsAreKeptInLowerCase() {
    assertEquals(
        List.of("\u00e9t\u00e9", "\u03c3\u03c3", "\u0436", "\u4e2d\u6587"),
        words("\u00c9T\u00c9 \u03a3\u03a3 \u0416 \u300a\u4e2d\u6587\u300b"));
    assertEquals(List.of("i"), words("\u0130"), "one character becomes one");
    assertEquals(List.of("\ud801\udc28"), words("\ud801\udc00"), "beyond the first plane");
    assertEquals(List.of("e\u0301"), words("E\u0301"), "marks stay with their letters");
  }

  @Test
  void whiteSpaceOfAllKindsSplits() {
    for (String space :
        List.of(" ", "\t", "\u000b", "\f", "\u00a0", "\u0085", "\u2003", "\u3000")) {
      assertEquals(List.of("a", "b"), words("a" + space + "B"), space);
    }
    assertEquals(List.of("ab"), words("a\u200bb"), "a zero width space is none");
  }

  @Test
  void invalidBytesAreSpecialCharacters() {
    Text line = new Text();
    byte[] bytes = "ab\u00e9c d".getBytes(StandardCharsets.ISO_8859_1);
    line.set(bytes, 0, bytes.length);
    assertEquals(List.of("abc", "d"), words(line));
    byte[] truncated = {'x', (byte) 0xe2, (byte) 0x82, 'Y', ' ', (byte) 0xf0};
    line.set(truncated, 0, truncated.length);
    assertEquals(List.of("xy"), words(line));
  }

  @Test
  void longWordsAndShorterLinesAfterLongerOnes() {
    String longWord = "A".repeat(1000);
    assertEquals(List.of(longWord.toLowerCase(java.util.Locale.ROOT)), words(longWord));
    assertEquals(List.of("b"), words("b"));
  }
}

package org.assay.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.udf;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.types.DataTypes;
import scala.Tuple2;

/**
 * How often each word of natural text occurs, in lower case and without special characters.
 *
 * <p>A line is cut at white space: characters with Unicode's property White_Space, and U+001C to
 * U+001F. Within each piece letters (categories L), marks (M) and decimal digits (Nd) are kept, in
 * lower case character by character (Unicode's simple mapping); all others are removed. Pieces of
 * which nothing is left are no words. Source: the storage subsystem study, word frequency counter.
 */
final class WordFrequency {
  private static final int KEPT =
      (1 << Character.UPPERCASE_LETTER)
          | (1 << Character.LOWERCASE_LETTER)
          | (1 << Character.TITLECASE_LETTER)
          | (1 << Character.MODIFIER_LETTER)
          | (1 << Character.OTHER_LETTER)
          | (1 << Character.NON_SPACING_MARK)
          | (1 << Character.ENCLOSING_MARK)
          | (1 << Character.COMBINING_SPACING_MARK)
          | (1 << Character.DECIMAL_DIGIT_NUMBER);

  private WordFrequency() {}

  static void rdd(Run run) {
    JavaPairRDD<String, Long> counts =
        run.lines()
            .flatMap(line -> words(line).iterator())
            .mapToPair(word -> new Tuple2<>(word, 1L))
            .reduceByKey(Long::sum);
    run.writeCounts(counts, false, "words");
  }

  static void dataFrame(Run run) {
    // SQL's own lower() has the full mapping, which makes two characters of some.
    UDF1<String, List<String>> find = WordFrequency::words;
    UserDefinedFunction words = udf(find, DataTypes.createArrayType(DataTypes.StringType));
    run.writeCounts(
        WordCount.counts(run.frame().select(explode(words.apply(col("value"))).as("word")), "word"),
        false,
        "words");
  }

  /** The words of a line, in their order. */
  static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    for (int at = 0; at < line.length(); ) {
      int character = line.codePointAt(at);
      at += Character.charCount(character);
      if (isSpace(character)) {
        end(word, words);
      } else if (((KEPT >> Character.getType(character)) & 1) != 0) {
        word.appendCodePoint(Character.toLowerCase(character));
      }
    }
    end(word, words);
    return words;
  }

  private static boolean isSpace(int character) {
    return Character.isWhitespace(character)
        || Character.isSpaceChar(character)
        || character == 0x85;
  }

  private static void end(StringBuilder word, List<String> words) {
    if (word.length() > 0) {
      words.add(word.toString());
      word.setLength(0);
    }
  }
}

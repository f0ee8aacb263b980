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
import org.assay.jobs.wordfrequency.WordScanner;
import scala.Tuple2;

/**
 * How often each word of natural text occurs, in lower case and without special characters, as
 * {@link WordScanner} tells them. Source: the storage subsystem study, word frequency counter.
 */
final class WordFrequency {
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
      int kept = WordScanner.classify(character);
      if (kept == WordScanner.SPACE) {
        end(word, words);
      } else if (kept != WordScanner.SPECIAL) {
        word.appendCodePoint(kept);
      }
    }
    end(word, words);
    return words;
  }

  private static void end(StringBuilder word, List<String> words) {
    if (word.length() > 0) {
      words.add(word.toString());
      word.setLength(0);
    }
  }
}

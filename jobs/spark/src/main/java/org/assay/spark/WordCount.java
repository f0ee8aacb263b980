package org.assay.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.split;

import java.util.Arrays;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.Tuple2;

/** How often each word occurs, where words are what ASCII's white space separates. */
final class WordCount {
  private static final String SPACE = "\\s+";

  private WordCount() {}

  static void rdd(Run run) {
    Pattern space = Pattern.compile(SPACE);
    JavaPairRDD<String, Long> counts =
        run.lines()
            .flatMap(line -> Arrays.asList(space.split(line)).iterator())
            .filter(word -> !word.isEmpty())
            .mapToPair(word -> new Tuple2<>(word, 1L))
            .reduceByKey(Long::sum);
    run.writeCounts(counts, false, "words");
  }

  static void dataFrame(Run run) {
    Dataset<Row> words = run.frame().select(explode(split(col("value"), SPACE)).as("word"));
    run.writeCounts(counts(words.where(col("word").notEqual("")), "word"), false, "words");
  }

  /** How often each value of a column occurs. */
  static JavaPairRDD<String, Long> counts(Dataset<Row> frame, String column) {
    return pairs(frame.groupBy(column).agg(count(lit(1))));
  }

  /** The texts and counts of a frame with these two columns. */
  static JavaPairRDD<String, Long> pairs(Dataset<Row> counts) {
    return counts.javaRDD().mapToPair(row -> new Tuple2<>(row.getString(0), row.getLong(1)));
  }
}

package org.assay.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.regexp_extract_all;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.assay.jobs.driver.UsageException;
import scala.Tuple2;

/**
 * How often each text that matches a pattern occurs, the most frequent first: lines {@code
 * count<TAB>text}, as Hadoop's example Grep writes them.
 */
final class Grep {
  private static final String PATTERN = "pattern";
  private static final String GROUP = "group";

  /** The names of its options. */
  static final Set<String> OPTIONS = Set.of(PATTERN, GROUP);

  private Grep() {}

  static void rdd(Run run) throws UsageException {
    Pattern pattern = pattern(run);
    int group = run.number(GROUP, 0, 0);
    JavaPairRDD<Long, String> counts =
        run.lines()
            .flatMap(line -> matches(pattern.matcher(line), group).iterator())
            .mapToPair(match -> new Tuple2<>(match, 1L))
            .reduceByKey(Long::sum)
            .mapToPair(Tuple2::swap);
    JavaPairRDD<Long, String> falling = counts.sortByKey(false, run.partitions(counts));
    run.writeCounts(falling.mapToPair(Tuple2::swap), true, "matches");
  }

  static void dataFrame(Run run) throws UsageException {
    String pattern = pattern(run).pattern();
    int group = run.number(GROUP, 0, 0);
    Dataset<Row> matches =
        run.frame()
            .select(
                explode(regexp_extract_all(col("value"), lit(pattern), lit(group))).as("match"));
    Dataset<Row> counts = matches.groupBy("match").agg(count(lit(1)).as("count"));
    run.writeCounts(WordCount.pairs(counts.orderBy(col("count").desc())), true, "matches");
  }

  private static Stream<String> matches(Matcher matcher, int group) {
    return matcher.results().map(match -> match.group(group));
  }

  private static Pattern pattern(Run run) throws UsageException {
    String given = run.arguments().get(PATTERN, "");
    if (given.isEmpty()) {
      throw new UsageException("option --pattern is missing; give a regular expression");
    }
    try {
      return Pattern.compile(given);
    } catch (PatternSyntaxException e) {
      throw new UsageException("option --pattern cannot be used: " + e.getDescription());
    }
  }
}

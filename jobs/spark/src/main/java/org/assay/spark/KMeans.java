package org.assay.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.assay.jobs.driver.InputColumns;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.graph.MalformedLineException;
import org.assay.jobs.kmeans.Centres;
import org.assay.jobs.kmeans.PointScanner;
import org.assay.jobs.kmeans.PointSum;
import scala.Tuple2;

/**
 * Points gathered around k centres by Lloyd's iteration from given centres, until none moves or a
 * bound is reached: each point goes to its nearest centre, and the mean of a centre's points is the
 * new centre. A centre without points stays where it is.
 *
 * <p>The output has the centres in {@code centres}, and with {@code --assign} the points with their
 * clusters in {@code clusters}.
 */
final class KMeans {
  private static final String CENTRES = "centres";
  private static final String ITERATIONS = "iterations";
  private static final String ATTRIBUTES = "attributes";
  private static final String ASSIGN = "assign";

  /** Centres have lines like those of an output's: the only form that is read. */
  private static final String NUMBERED = "numbered";

  /** The names of its options. */
  static final Set<String> OPTIONS = Set.of(CENTRES, ITERATIONS, ATTRIBUTES);

  static final Set<String> FLAGS = Set.of(NUMBERED, ASSIGN);

  private KMeans() {}

  static void rdd(Run run) throws IOException, UsageException {
    String given = run.arguments().get(CENTRES, "");
    if (given.isEmpty()) {
      throw new UsageException("option --centres is missing; give a file with centres");
    }
    Centres start = Centres.readGiven(run.hadoop(), new Path(given), true);
    double[][] centres =
        IntStream.range(0, start.size()).mapToObj(start::get).toArray(double[][]::new);
    int most = run.number(ITERATIONS, 100, 1);
    int attributes = run.number(ATTRIBUTES, 0, 0);
    JavaRDD<double[]> points = points(run, attributes).persist(StorageLevel.MEMORY_AND_DISK());
    long[] sizes = new long[centres.length];
    int still = 0;
    int iteration = 0;
    while (still < centres.length && iteration < most) {
      iteration++;
      Map<Integer, PointSum> sums = sums(points, new Centres(centres));
      still = centres.length;
      for (int i = 0; i < centres.length; i++) {
        PointSum sum = sums.get(i);
        sizes[i] = sum == null ? 0 : sum.count();
        still -= sum != null && sum.moves(centres[i]) ? 1 : 0;
        centres[i] = sum == null ? centres[i] : sum.mean();
      }
    }
    List<String> lines = new ArrayList<>();
    long count = 0;
    long empty = 0;
    for (int i = 0; i < centres.length; i++) {
      lines.add(Centres.line(i, sizes[i], centres[i]));
      count += sizes[i];
      empty += sizes[i] == 0 ? 1 : 0;
    }
    run.write(run.context().parallelize(lines, 1), run.output() + "/centres");
    run.result("iterations", iteration);
    run.result("points", count);
    run.result("converged", still);
    run.result("empty", empty);
    if (run.arguments().has(ASSIGN)) {
      assign(run, new Centres(centres), attributes);
    }
  }

  private static JavaRDD<double[]> points(Run run, int attributes) {
    Configuration conf = new Configuration(run.hadoop());
    if (attributes > 0) {
      InputColumns.use(conf, attributes);
    }
    PointScanner scanner = new PointScanner(attributes);
    return run.texts(conf)
        .map(
            line -> {
              int dimensions = scanner.read(line);
              return Arrays.copyOf(scanner.coordinates(), dimensions);
            })
        .filter(point -> point.length > 0);
  }

  /** The sums of the points that are nearest to each centre, by its index. */
  private static Map<Integer, PointSum> sums(JavaRDD<double[]> points, Centres centres) {
    return points
        .mapPartitionsToPair(partition -> partitionSums(partition, centres))
        .reduceByKey(KMeans::added)
        .collectAsMap();
  }

  private static Iterator<Tuple2<Integer, PointSum>> partitionSums(
      Iterator<double[]> points, Centres centres) throws MalformedLineException {
    Map<Integer, PointSum> sums = new HashMap<>();
    PointSum point = new PointSum();
    while (points.hasNext()) {
      double[] coordinates = points.next();
      point.setPoint(coordinates, coordinates.length);
      sums.computeIfAbsent(
              centres.nearest(coordinates, coordinates.length), index -> new PointSum())
          .add(point);
    }
    return sums.entrySet().stream()
        .map(entry -> new Tuple2<>(entry.getKey(), entry.getValue()))
        .iterator();
  }

  private static PointSum added(PointSum sum, PointSum other) {
    sum.add(other);
    return sum;
  }

  /** Writes each point's line after the index of its nearest centre and a tab. */
  private static void assign(Run run, Centres centres, int attributes) {
    PointScanner scanner = new PointScanner(attributes);
    JavaRDD<String> assigned =
        run.texts(run.hadoop())
            .map(
                line -> {
                  int dimensions = scanner.read(line);
                  return dimensions == 0
                      ? null
                      : centres.nearest(scanner.coordinates(), dimensions) + "\t" + line;
                })
            .filter(Objects::nonNull);
    run.result("assigned", run.write(assigned, run.output() + "/clusters"));
  }
}

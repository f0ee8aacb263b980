package org.assay.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
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
  static final Set<String> OPTIONS = Set.of(CENTRES, NUMBERED, ITERATIONS, ATTRIBUTES, ASSIGN);

  /** Tells formats of tables how many columns of each line are read. */
  private static final String INPUT_COLUMNS = "assay.input.columns";

  /**
   * A centre moves when a coordinate changes by more than this share of the mean magnitude of its
   * points' coordinate: far above what roundings change, far below what one point changes.
   */
  private static final double STILL = 1e-12;

  private KMeans() {}

  static void rdd(Run run) throws IOException, UsageException {
    String given = run.arguments().text(CENTRES, "");
    if (given.isEmpty()) {
      throw new UsageException("option --centres is missing; give a file with centres");
    }
    double[][] centres = Points.centres(run.hadoop(), given);
    int most = run.arguments().number(ITERATIONS, 100, 1);
    int attributes = run.arguments().number(ATTRIBUTES, 0, 0);
    JavaRDD<double[]> points = points(run, attributes).persist(StorageLevel.MEMORY_AND_DISK());
    long[] sizes = new long[centres.length];
    int still = 0;
    int iteration = 0;
    while (still < centres.length && iteration < most) {
      iteration++;
      Map<Integer, PointSum> sums = sums(run, points, centres);
      still = centres.length;
      for (int i = 0; i < centres.length; i++) {
        PointSum sum = sums.get(i);
        sizes[i] = sum == null ? 0 : sum.count();
        still -= sum != null && moves(centres[i], sum) ? 1 : 0;
        centres[i] = sum == null ? centres[i] : mean(sum, centres[i].length);
      }
    }
    List<String> lines = new ArrayList<>();
    long count = 0;
    long empty = 0;
    for (int i = 0; i < centres.length; i++) {
      lines.add(Points.line(i, sizes[i], centres[i]));
      count += sizes[i];
      empty += sizes[i] == 0 ? 1 : 0;
    }
    run.write(run.context().parallelize(lines, 1), run.output() + "/centres");
    run.result("iterations", iteration);
    run.result("points", count);
    run.result("converged", still);
    run.result("empty", empty);
    if (run.arguments().has(ASSIGN)) {
      assign(run, centres, attributes);
    }
  }

  private static JavaRDD<double[]> points(Run run, int attributes) {
    Configuration conf = new Configuration(run.hadoop());
    if (attributes > 0) {
      conf.setInt(INPUT_COLUMNS, attributes);
    }
    return run.lines(conf)
        .map(line -> Points.read(line, attributes))
        .filter(point -> point.length > 0);
  }

  /** The sums of the points that are nearest to each centre, by its index. */
  private static Map<Integer, PointSum> sums(
      Run run, JavaRDD<double[]> points, double[][] centres) {
    Broadcast<double[][]> shared = run.context().broadcast(centres);
    Map<Integer, PointSum> sums =
        points
            .mapPartitionsToPair(partition -> partitionSums(partition, shared.value()))
            .reduceByKey(PointSum::plus)
            .collectAsMap();
    shared.destroy();
    return sums;
  }

  private static Iterator<Tuple2<Integer, PointSum>> partitionSums(
      Iterator<double[]> points, double[][] centres) {
    Map<Integer, PointSum> sums = new HashMap<>();
    while (points.hasNext()) {
      double[] point = points.next();
      sums.computeIfAbsent(Points.nearest(point, centres), index -> new PointSum(point.length))
          .add(point);
    }
    return sums.entrySet().stream()
        .map(entry -> new Tuple2<>(entry.getKey(), entry.getValue()))
        .iterator();
  }

  private static boolean moves(double[] centre, PointSum sum) {
    boolean moves = false;
    for (int i = 0; i < centre.length; i++) {
      moves |= Math.abs(sum.mean(i) - centre[i]) > STILL * sum.meanMagnitude(i);
    }
    return moves;
  }

  private static double[] mean(PointSum sum, int dimensions) {
    double[] mean = new double[dimensions];
    for (int i = 0; i < dimensions; i++) {
      mean[i] = sum.mean(i);
    }
    return mean;
  }

  /** Writes each point's line after the index of its nearest centre and a tab. */
  private static void assign(Run run, double[][] centres, int attributes) {
    Broadcast<double[][]> shared = run.context().broadcast(centres);
    JavaRDD<String> assigned =
        run.lines()
            .map(line -> new Tuple2<>(line, Points.read(line, attributes)))
            .filter(line -> line._2().length > 0)
            .map(line -> Points.nearest(line._2(), shared.value()) + "\t" + line._1());
    run.result("assigned", run.write(assigned, run.output() + "/clusters"));
  }
}

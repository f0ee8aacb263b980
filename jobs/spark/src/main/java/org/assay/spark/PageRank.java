package org.assay.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.storage.StorageLevel;
import org.assay.jobs.driver.UsageException;
import scala.Tuple2;

/**
 * The rank of each vertex of a directed graph, by power iteration from equal ranks, until the ranks
 * of all vertices together change by less than the tolerance (L1 norm) or a bound is reached.
 *
 * <p>A vertex has (1 - c) / n, and c times the shares that it gets, where c is the damping and n
 * the number of vertices. The rank of the vertices without an edge that leaves them is handed out
 * to all vertices evenly, so that ranks always sum to 1. Equal edges count once.
 */
final class PageRank {
  private static final String DAMPING = "damping";
  private static final String TOLERANCE = "tolerance";
  private static final String ITERATIONS = "iterations";

  /** The names of its options. */
  static final Set<String> OPTIONS = Set.of(DAMPING, TOLERANCE, ITERATIONS);

  private PageRank() {}

  static void rdd(Run run) throws UsageException {
    double damping = run.arguments().share(DAMPING, 0.85, 1);
    double tolerance = run.arguments().share(TOLERANCE, 1e-7, 2);
    int most = run.number(ITERATIONS, 50, 1);
    JavaPairRDD<Long, long[]> links =
        GraphText.directed(run)
            .flatMapToPair(PageRank::ends)
            .groupByKey()
            .mapValues(PageRank::targets)
            .persist(StorageLevel.MEMORY_AND_DISK());
    Sizes sizes = links.values().map(Sizes::of).fold(new Sizes(0, 0, 0), Sizes::plus);
    double start = 1.0 / sizes.vertices;
    JavaPairRDD<Long, Double> ranks = links.mapValues(targets -> start);
    double danglingRank = sizes.dangling * start;
    double change = Double.POSITIVE_INFINITY;
    int iteration = 0;
    while (change >= tolerance && iteration < most) {
      iteration++;
      double even = (1 - damping + damping * danglingRank) / sizes.vertices;
      JavaPairRDD<Long, Double> next =
          links
              .join(ranks)
              .flatMapToPair(entry -> shares(entry._1(), entry._2()._1(), entry._2()._2()))
              .reduceByKey(links.partitioner().get(), Double::sum)
              .mapValues(shares -> even + damping * shares)
              .persist(StorageLevel.MEMORY_AND_DISK());
      double[] changeAndDangling =
          links
              .join(ranks)
              .join(next)
              .values()
              .aggregate(
                  new double[2],
                  (sums, entry) -> added(sums, entry._1()._1(), entry._1()._2(), entry._2()),
                  (left, right) -> new double[] {left[0] + right[0], left[1] + right[1]});
      ranks.unpersist();
      ranks = next;
      change = changeAndDangling[0];
      danglingRank = changeAndDangling[1];
    }
    run.write(ranks.map(entry -> entry._1() + "\t" + entry._2()));
    run.result("change", change);
    run.result("iterations", iteration);
    run.result("converged", change < tolerance ? 1 : 0);
    run.result("vertices", sizes.vertices);
    run.result("edges", sizes.edges);
    run.result("dangling_vertices", sizes.dangling);
  }

  /** An edge at its source, and both its ends as vertices. */
  private static Iterator<Tuple2<Long, Long>> ends(Tuple2<Long, Long> edge) {
    return edge._2() == null
        ? List.of(edge).iterator()
        : List.of(edge, new Tuple2<>(edge._2(), (Long) null)).iterator();
  }

  private static long[] targets(Iterable<Long> targets) {
    return StreamSupport.stream(targets.spliterator(), false)
        .filter(Objects::nonNull)
        .mapToLong(Long::longValue)
        .sorted()
        .distinct()
        .toArray();
  }

  /** What a vertex gives to each of its targets; nothing to itself, so that no vertex is lost. */
  private static Iterator<Tuple2<Long, Double>> shares(long vertex, long[] targets, double rank) {
    List<Tuple2<Long, Double>> shares = new ArrayList<>(targets.length + 1);
    shares.add(new Tuple2<>(vertex, 0.0));
    Arrays.stream(targets)
        .forEach(target -> shares.add(new Tuple2<>(target, rank / targets.length)));
    return shares.iterator();
  }

  private static double[] added(double[] sums, long[] targets, double before, double after) {
    sums[0] += Math.abs(after - before);
    sums[1] += targets.length == 0 ? after : 0;
    return sums;
  }

  /** Numbers of vertices, of edges, and of vertices without an edge that leaves them. */
  private static final class Sizes implements java.io.Serializable {
    private static final long serialVersionUID = 1L;

    private final long vertices;
    private final long edges;
    private final long dangling;

    Sizes(long vertices, long edges, long dangling) {
      this.vertices = vertices;
      this.edges = edges;
      this.dangling = dangling;
    }

    static Sizes of(long[] targets) {
      return new Sizes(1, targets.length, targets.length == 0 ? 1 : 0);
    }

    Sizes plus(Sizes other) {
      return new Sizes(vertices + other.vertices, edges + other.edges, dangling + other.dangling);
    }
  }
}

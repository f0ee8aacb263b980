package org.assay.spark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.LongAccumulator;
import org.assay.jobs.driver.UsageException;
import scala.Tuple2;

/**
 * Connected components by alternating large-star and small-star, until the edges stay as they are.
 *
 * <p>Source: Kiveris et al., Connected Components in MapReduce and Beyond, SoCC 2014.
 */
final class Components {
  static final String MOST = "max-iterations";
  static final int MOST_BY_DEFAULT = 1000;

  /** The names of its options. */
  static final Set<String> OPTIONS = Set.of(MOST);

  private Components() {}

  static void rdd(Run run) throws UsageException {
    int most = run.number(MOST, MOST_BY_DEFAULT, 1);
    JavaPairRDD<Long, Long> lines =
        GraphText.undirected(run).persist(StorageLevel.MEMORY_AND_DISK());
    JavaPairRDD<Long, Long> edges = lines.filter(line -> !line._1().equals(line._2()));
    Tuple2<Long, Long> before = null;
    Tuple2<Long, Long> digest = digest(edges);
    for (int iteration = 1; !digest.equals(before); iteration++) {
      if (iteration > most) {
        throw new UsageException(
            "vertices still change after " + most + " iterations; give a larger --" + MOST);
      }
      JavaPairRDD<Long, Long> next =
          smallStar(largeStar(edges)).distinct().persist(StorageLevel.MEMORY_AND_DISK());
      before = digest;
      digest = digest(next);
      edges.unpersist();
      edges = next;
      run.result("iterations", iteration);
    }
    JavaPairRDD<Long, Long> vertices =
        lines.flatMapToPair(
            line ->
                List.of(new Tuple2<>(line._1(), line._1()), new Tuple2<>(line._2(), line._2()))
                    .iterator());
    write(run, vertices.union(edges).reduceByKey(Math::min));
  }

  /** Writes each vertex with its component, and reports their number. */
  static void write(Run run, JavaPairRDD<Long, Long> components) {
    LongAccumulator count = run.count();
    run.write(
        components.map(
            entry -> {
              if (entry._1().equals(entry._2())) {
                count.add(1);
              }
              return entry._1() + "\t" + entry._2();
            }));
    run.result("components", count.value());
  }

  /** Links the larger neighbours of each vertex to the smallest of it and its neighbours. */
  private static JavaPairRDD<Long, Long> largeStar(JavaPairRDD<Long, Long> edges) {
    return edges
        .flatMapToPair(edge -> List.of(edge, edge.swap()).iterator())
        .groupByKey()
        .flatMapToPair(star -> linked(star._1(), star._2(), true));
  }

  /** Links each vertex and its neighbours, which are smaller, to the smallest of them. */
  private static JavaPairRDD<Long, Long> smallStar(JavaPairRDD<Long, Long> edges) {
    return edges.groupByKey().flatMapToPair(star -> linked(star._1(), star._2(), false));
  }

  /** The links, each from its larger vertex. */
  private static Iterator<Tuple2<Long, Long>> linked(
      long centre, Iterable<Long> neighbours, boolean largerOnly) {
    long smallest = centre;
    for (long neighbour : neighbours) {
      smallest = Math.min(smallest, neighbour);
    }
    List<Tuple2<Long, Long>> links = new ArrayList<>();
    for (long neighbour : neighbours) {
      if (largerOnly ? neighbour > centre : neighbour != smallest) {
        links.add(new Tuple2<>(neighbour, smallest));
      }
    }
    if (!largerOnly) {
      links.add(new Tuple2<>(centre, smallest));
    }
    return links.iterator();
  }

  /** The number of edges and a sum of their hashes: equal for equal sets of edges. */
  private static Tuple2<Long, Long> digest(JavaPairRDD<Long, Long> edges) {
    return edges.aggregate(
        new Tuple2<>(0L, 0L),
        (sum, edge) -> new Tuple2<>(sum._1() + 1, sum._2() + hash(edge._1(), edge._2())),
        (left, right) -> new Tuple2<>(left._1() + right._1(), left._2() + right._2()));
  }

  private static long hash(long larger, long smaller) {
    // The finalizer of MurmurHash3 for 64 bits.
    long mixed = larger * 0x9e3779b97f4a7c15L + smaller;
    mixed = (mixed ^ (mixed >>> 33)) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ (mixed >>> 33);
  }
}

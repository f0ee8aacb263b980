package org.assay.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * The triangles of a graph, each found once: edges lead from their vertex of lower degree to the
 * other, and between equal degrees to the larger vertex; the list of what a vertex leads to is sent
 * along each of its edges, and compared with the list there.
 */
final class DegreeOrder {
  private final JavaPairRDD<Long, long[]> followers;

  /** Directs the input's edges, and reports the numbers of vertices, edges and open triads. */
  DegreeOrder(Run run) {
    JavaPairRDD<Long, Long> lines =
        GraphText.undirected(run).persist(StorageLevel.MEMORY_AND_DISK());
    JavaPairRDD<Long, Integer> degrees =
        lines
            .flatMapToPair(line -> ends(line).iterator())
            .reduceByKey(Integer::sum)
            .persist(StorageLevel.MEMORY_AND_DISK());
    followers =
        lines
            .filter(line -> !line._1().equals(line._2()))
            .join(degrees)
            .mapToPair(
                entry -> new Tuple2<>(entry._2()._1(), new Tuple2<>(entry._1(), entry._2()._2())))
            .join(degrees)
            .mapToPair(
                entry -> {
                  long smaller = entry._2()._1()._1();
                  boolean upwards = entry._2()._1()._2() <= entry._2()._2();
                  return upwards
                      ? new Tuple2<>(smaller, entry._1())
                      : new Tuple2<>(entry._1(), smaller);
                })
            .groupByKey()
            .mapValues(DegreeOrder::sorted)
            .persist(StorageLevel.MEMORY_AND_DISK());
    run.result("vertices", degrees.count());
    Tuple2<Long, Long> sizes =
        followers
            .values()
            .map(list -> new Tuple2<>((long) list.length, pairs(list.length)))
            .fold(
                new Tuple2<>(0L, 0L),
                (left, right) -> new Tuple2<>(left._1() + right._1(), left._2() + right._2()));
    run.result("edges", sizes._1());
    run.result("wedges", sizes._2());
    lines.unpersist();
    degrees.unpersist();
  }

  /** Each edge with the vertices that both its ends lead to: one for each triangle. */
  JavaRDD<Corner> corners() {
    return followers
        .flatMapToPair(
            entry ->
                Arrays.stream(entry._2())
                    .mapToObj(
                        follower -> new Tuple2<>(follower, new Tuple2<>(entry._1(), entry._2())))
                    .iterator())
        .join(followers)
        .map(
            entry ->
                new Corner(
                    entry._2()._1()._1(),
                    entry._1(),
                    common(entry._2()._1()._2(), entry._2()._2())));
  }

  private static List<Tuple2<Long, Integer>> ends(Tuple2<Long, Long> line) {
    return line._1().equals(line._2())
        ? List.of(new Tuple2<>(line._1(), 0))
        : List.of(new Tuple2<>(line._1(), 1), new Tuple2<>(line._2(), 1));
  }

  private static long pairs(long count) {
    return count * (count - 1) / 2;
  }

  static long[] sorted(Iterable<Long> vertices) {
    return StreamSupport.stream(vertices.spliterator(), false)
        .mapToLong(Long::longValue)
        .sorted()
        .toArray();
  }

  /** What two ascending lists have in common. */
  static long[] common(long[] left, long[] right) {
    long[] common = new long[Math.min(left.length, right.length)];
    int count = 0;
    for (int i = 0, j = 0; i < left.length && j < right.length; ) {
      if (left[i] == right[j]) {
        common[count++] = left[i];
      }
      boolean advanceLeft = left[i] <= right[j];
      boolean advanceRight = left[i] >= right[j];
      i += advanceLeft ? 1 : 0;
      j += advanceRight ? 1 : 0;
    }
    return Arrays.copyOf(common, count);
  }

  /** An edge, and the third corners of triangles that it is the first edge of. */
  static final class Corner implements java.io.Serializable {
    private static final long serialVersionUID = 1L;

    private final long from;
    private final long to;
    private final long[] thirds;

    Corner(long from, long to, long[] thirds) {
      this.from = from;
      this.to = to;
      this.thirds = thirds;
    }

    long triangles() {
      return thirds.length;
    }

    /** Each edge of each triangle, from its smaller vertex, with the third vertex. */
    Iterator<Tuple2<Tuple2<Long, Long>, Long>> friends() {
      List<Tuple2<Tuple2<Long, Long>, Long>> friends = new ArrayList<>();
      for (long third : thirds) {
        friends.add(friend(from, to, third));
        friends.add(friend(from, third, to));
        friends.add(friend(to, third, from));
      }
      return friends.iterator();
    }

    private static Tuple2<Tuple2<Long, Long>, Long> friend(long one, long other, long third) {
      return new Tuple2<>(new Tuple2<>(Math.min(one, other), Math.max(one, other)), third);
    }
  }
}

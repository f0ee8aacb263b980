package org.assay.spark;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/** For each edge the vertices connected to both its ends: {@code u<TAB>v<TAB>w1 w2 ...}. */
final class MutualFriends {
  private MutualFriends() {}

  static void rdd(Run run) {
    LongAccumulator count = run.count();
    JavaPairRDD<Tuple2<Long, Long>, long[]> friends =
        new DegreeOrder(run)
            .corners()
            .flatMapToPair(DegreeOrder.Corner::friends)
            .groupByKey()
            .mapValues(DegreeOrder::sorted);
    run.write(
        friends.map(
            entry -> {
              count.add(entry._2().length);
              return entry._1()._1() + "\t" + entry._1()._2() + "\t" + text(entry._2());
            }));
    run.result("mutual_friends", count.value());
    // Each is counted at its three edges.
    run.result("triangles", count.value() / 3);
  }

  private static String text(long[] vertices) {
    return Arrays.stream(vertices).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }
}

package org.assay.spark;

import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.graphx.Edge;
import org.apache.spark.graphx.Graph;
import org.apache.spark.graphx.PartitionStrategy;
import org.apache.spark.graphx.lib.ConnectedComponents;
import org.apache.spark.graphx.lib.TriangleCount;
import org.apache.spark.storage.StorageLevel;
import org.assay.jobs.driver.UsageException;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** The algorithms that GraphX has. */
final class GraphX {
  private static final ClassTag<Integer> NUMBER = ClassTag$.MODULE$.apply(Integer.class);

  private GraphX() {}

  /** Connected components: each vertex gets the smallest one of its component. */
  static void components(Run run) throws UsageException {
    int most = run.number(Components.MOST, Components.MOST_BY_DEFAULT, 1);
    JavaRDD<Tuple2<Object, Object>> components =
        ConnectedComponents.run(graph(run), most, NUMBER, NUMBER).vertices().toJavaRDD();
    Components.write(
        run, components.mapToPair(entry -> new Tuple2<>((Long) entry._1(), (Long) entry._2())));
  }

  /** The number of triangles. */
  static void triangles(Run run) {
    // Its algorithm wants each pair of vertices in one partition only.
    Graph<Integer, Integer> graph =
        graph(run).partitionBy(PartitionStrategy.RandomVertexCut$.MODULE$).cache();
    long corners =
        TriangleCount.runPreCanonicalized(graph, NUMBER, NUMBER)
            .vertices()
            .toJavaRDD()
            .map(entry -> ((Integer) entry._2()).longValue())
            .fold(0L, Long::sum);
    Triangles.write(run, corners / 3);
    run.result("vertices", graph.ops().numVertices());
    run.result("edges", graph.ops().numEdges());
  }

  private static Graph<Integer, Integer> graph(Run run) {
    JavaPairRDD<Long, Long> lines = GraphText.undirected(run);
    JavaRDD<Edge<Integer>> edges =
        lines
            .filter(line -> !line._1().equals(line._2()))
            .map(line -> new Edge<>(line._1(), line._2(), 1));
    JavaRDD<Tuple2<Object, Integer>> lone =
        lines
            .filter(line -> line._1().equals(line._2()))
            .map(line -> new Tuple2<Object, Integer>(line._1(), 1));
    return Graph.apply(
        lone.rdd(),
        edges.rdd(),
        1,
        StorageLevel.MEMORY_AND_DISK(),
        StorageLevel.MEMORY_AND_DISK(),
        NUMBER,
        NUMBER);
  }
}

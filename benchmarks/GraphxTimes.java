import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.graphx.Graph;
import org.apache.spark.graphx.GraphLoader;
import org.apache.spark.graphx.PartitionStrategy;
import org.apache.spark.graphx.lib.ConnectedComponents;
import org.apache.spark.graphx.lib.TriangleCount;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * GraphX as its guide shows it, on the cores of this machine: `GraphxTimes components|triangles FILE`, with an edge in
 * each line of FILE, as two numbers apart by a tab. Prints how many there are.
 */
public final class GraphxTimes {
  private GraphxTimes() {}

  /** Counts and prints. */
  public static void main(String[] arguments) {
    SparkConf conf = new SparkConf().setMaster("local[*]").setAppName("graphx").set("spark.ui.enabled", "false");
    SparkContext context = new SparkContext(conf);
    int parts = context.defaultParallelism();
    StorageLevel memory = StorageLevel.MEMORY_ONLY();
    Graph<Object, Object> graph = GraphLoader.edgeListFile(context, arguments[1], true, parts, memory, memory);
    System.out.println(arguments[0].equals("components") ? components(graph) : triangles(graph));
    context.stop();
  }

  private static long components(Graph<Object, Object> graph) {
    ClassTag<Object> number = numberTag();
    return ConnectedComponents.run(graph, number, number)
        .vertices()
        .toJavaRDD()
        .filter(vertex -> ((Long) vertex._1()).equals(vertex._2()))
        .count();
  }

  private static long triangles(Graph<Object, Object> graph) {
    ClassTag<Object> number = numberTag();
    Graph<Object, Object> cut = graph.partitionBy(PartitionStrategy.RandomVertexCut$.MODULE$);
    long corners =
        TriangleCount.run(cut, number, number)
            .vertices()
            .toJavaRDD()
            .map((Tuple2<Object, Object> vertex) -> ((Number) vertex._2()).longValue())
            .reduce(Long::sum);
    return corners / 3;
  }

  /** Of the ones that GraphLoader gives vertices and edges as attributes. */
  @SuppressWarnings("unchecked")
  private static ClassTag<Object> numberTag() {
    return (ClassTag<Object>) (ClassTag<?>) ClassTag$.MODULE$.Int();
  }
}

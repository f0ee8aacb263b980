import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
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
 * Applications as Spark's guide and examples write them, of the algorithms that Assay's workloads have on Spark, with
 * outputs of the same form: `PlainSpark WORKLOAD INPUT OUTPUT [more]`. Inputs get the partitions that Spark gives a text
 * file or a file of records by default: one for each block, of texts at least two; sorts and shuffles keep their number.
 */
public final class PlainSpark {
  private static final Pattern SPACE = Pattern.compile("\\s+");
  private static final int RECORD_BYTES = 100;
  private static final int KEY_BYTES = 10;
  private static final long NO_TARGET = -1;

  private PlainSpark() {}

  /** Runs an application, in the cluster that Spark's properties name. */
  public static void main(String[] arguments) {
    String input = arguments[1];
    String output = arguments[2];
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("plain " + arguments[0]))) {
      switch (arguments[0]) {
        case "components" -> components(spark, input, output);
        case "triangles" -> triangles(spark, input, output);
        case "word-count" -> wordCount(spark, input, output);
        case "grep" -> grep(spark, input, output, Pattern.compile(arguments[3]));
        case "terasort" -> teraSort(spark, input, output);
        case "page-rank" -> pageRank(spark, input, output, Integer.parseInt(arguments[3]));
        case "k-means" -> kMeans(spark, input, output, arguments[3], Integer.parseInt(arguments[4]));
        default -> throw new IllegalArgumentException(arguments[0]);
      }
    }
  }

  private static void components(JavaSparkContext spark, String input, String output) {
    ClassTag<Object> number = numberTag();
    ConnectedComponents.run(graph(spark, input), number, number)
        .vertices()
        .toJavaRDD()
        .map(vertex -> vertex._1() + "\t" + vertex._2())
        .saveAsTextFile(output);
  }

  /** The edges are of a simple graph, and their loader orients them: they are canonical. */
  private static void triangles(JavaSparkContext spark, String input, String output) {
    ClassTag<Object> number = numberTag();
    Graph<Object, Object> cut =
        graph(spark, input).partitionBy(PartitionStrategy.RandomVertexCut$.MODULE$).cache();
    long corners =
        TriangleCount.runPreCanonicalized(cut, number, number)
            .vertices()
            .toJavaRDD()
            .map((Tuple2<Object, Object> vertex) -> ((Number) vertex._2()).longValue())
            .reduce(Long::sum);
    spark.parallelize(List.of(Long.toString(corners / 3)), 1).saveAsTextFile(output);
  }

  /** An edge in each line; as many partitions as a text file has. */
  private static Graph<Object, Object> graph(JavaSparkContext spark, String input) {
    StorageLevel memory = StorageLevel.MEMORY_ONLY();
    return GraphLoader.edgeListFile(spark.sc(), input, true, -1, memory, memory);
  }

  /** Of the ones that GraphLoader gives vertices and edges as attributes. */
  @SuppressWarnings("unchecked")
  private static ClassTag<Object> numberTag() {
    return (ClassTag<Object>) (ClassTag<?>) ClassTag$.MODULE$.Int();
  }

  private static void wordCount(JavaSparkContext spark, String input, String output) {
    spark
        .textFile(input)
        .flatMap(line -> Arrays.asList(SPACE.split(line)).iterator())
        .filter(word -> !word.isEmpty())
        .mapToPair(word -> new Tuple2<>(word, 1L))
        .reduceByKey(Long::sum)
        .map(count -> count._1() + "\t" + count._2())
        .saveAsTextFile(output);
  }

  private static void grep(JavaSparkContext spark, String input, String output, Pattern pattern) {
    spark
        .textFile(input)
        .flatMap(line -> pattern.matcher(line).results().map(match -> match.group()).iterator())
        .mapToPair(match -> new Tuple2<>(match, 1L))
        .reduceByKey(Long::sum)
        .mapToPair(Tuple2::swap)
        .sortByKey(false)
        .map(count -> count._1() + "\t" + count._2())
        .saveAsTextFile(output);
  }

  private static void teraSort(JavaSparkContext spark, String input, String output) {
    spark
        .binaryRecords(input, RECORD_BYTES)
        .mapToPair(
            record ->
                new Tuple2<>(
                    Arrays.copyOf(record, KEY_BYTES), Arrays.copyOfRange(record, KEY_BYTES, RECORD_BYTES)))
        .sortByKey(new ByteOrder(), true)
        .saveAsNewAPIHadoopFile(output, byte[].class, byte[].class, Records.class);
  }

  /** Bytes in the order of unsigned numbers. */
  private static final class ByteOrder implements java.util.Comparator<byte[]>, java.io.Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public int compare(byte[] left, byte[] right) {
      return Arrays.compareUnsigned(left, right);
    }
  }

  /** Writes keys and values, and nothing between them. */
  public static final class Records extends FileOutputFormat<byte[], byte[]> {
    @Override
    public RecordWriter<byte[], byte[]> getRecordWriter(TaskAttemptContext task) throws IOException {
      Path file = getDefaultWorkFile(task, "");
      FSDataOutputStream out = file.getFileSystem(task.getConfiguration()).create(file, false);
      return new RecordWriter<>() {
        @Override
        public void write(byte[] key, byte[] value) throws IOException {
          out.write(key);
          out.write(value);
        }

        @Override
        public void close(TaskAttemptContext context) throws IOException {
          out.close();
        }
      };
    }
  }

  /** Equal ranks, then so many times each vertex's even part of all rank and the shares that it gets. */
  private static void pageRank(JavaSparkContext spark, String input, String output, int iterations) {
    double damping = 0.85;
    double tolerance = 1e-7;
    JavaPairRDD<Long, long[]> links =
        spark.textFile(input).flatMapToPair(PlainSpark::ends).groupByKey().mapValues(PlainSpark::targets).cache();
    double vertices = links.count();
    JavaPairRDD<Long, Double> ranks = links.mapValues(targets -> 1 / vertices);
    // The change of all ranks, and the rank of the vertices that point to none.
    double[] sums = {tolerance, links.filter(vertex -> vertex._2().length == 0).count() / vertices};
    for (int i = 0; i < iterations && sums[0] >= tolerance; i++) {
      double even = (1 - damping + damping * sums[1]) / vertices;
      JavaPairRDD<Long, Double> next =
          links
              .join(ranks)
              .flatMapToPair(vertex -> shares(vertex._1(), vertex._2()._1(), vertex._2()._2()))
              .reduceByKey(Double::sum)
              .mapValues(shares -> even + damping * shares)
              .cache();
      sums =
          links
              .join(ranks)
              .join(next)
              .values()
              .map(
                  rank ->
                      new double[] {
                        Math.abs(rank._2() - rank._1()._2()), rank._1()._1().length == 0 ? rank._2() : 0
                      })
              .reduce((left, right) -> new double[] {left[0] + right[0], left[1] + right[1]});
      ranks.unpersist();
      ranks = next;
    }
    ranks.map(rank -> rank._1() + "\t" + rank._2()).saveAsTextFile(output);
  }

  private static Iterator<Tuple2<Long, Long>> ends(String line) {
    String[] ends = SPACE.split(line);
    long source = Long.parseLong(ends[0]);
    if (ends.length == 1) {
      return List.of(new Tuple2<>(source, NO_TARGET)).iterator();
    }
    long target = Long.parseLong(ends[1]);
    return List.of(new Tuple2<>(source, target), new Tuple2<>(target, NO_TARGET)).iterator();
  }

  private static long[] targets(Iterable<Long> targets) {
    return StreamSupport.stream(targets.spliterator(), false)
        .mapToLong(Long::longValue)
        .filter(target -> target != NO_TARGET)
        .distinct()
        .toArray();
  }

  private static Iterator<Tuple2<Long, Double>> shares(long vertex, long[] targets, double rank) {
    List<Tuple2<Long, Double>> shares = new ArrayList<>();
    shares.add(new Tuple2<>(vertex, 0.0)); // so that a vertex to which none points stays
    for (long target : targets) {
      shares.add(new Tuple2<>(target, rank / targets.length));
    }
    return shares.iterator();
  }

  private static void kMeans(JavaSparkContext spark, String input, String output, String start, int iterations) {
    JavaRDD<double[]> points = spark.textFile(input).map(PlainSpark::numbers).cache();
    Map<Integer, double[]> given = new TreeMap<>();
    for (String line : spark.textFile(start).collect()) { // index, points, centre
      String[] fields = line.split("\t");
      given.put(Integer.parseInt(fields[0]), numbers(fields[2]));
    }
    double[][] centres = given.values().toArray(new double[0][]);
    long[] sizes = new long[centres.length];
    boolean moves = true;
    for (int i = 0; i < iterations && moves; i++) {
      double[][] before = centres.clone();
      Map<Integer, Tuple2<double[], Long>> sums =
          points
              .mapToPair(point -> new Tuple2<>(nearest(point, before), new Tuple2<>(point, 1L)))
              .reduceByKey((sum, other) -> new Tuple2<>(sum(sum._1(), other._1()), sum._2() + other._2()))
              .collectAsMap();
      Arrays.fill(sizes, 0);
      for (Map.Entry<Integer, Tuple2<double[], Long>> cluster : sums.entrySet()) {
        long size = cluster.getValue()._2();
        sizes[cluster.getKey()] = size;
        centres[cluster.getKey()] = Arrays.stream(cluster.getValue()._1()).map(sum -> sum / size).toArray();
      }
      moves = !Arrays.deepEquals(before, centres);
    }
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < centres.length; i++) {
      lines.add(
          i + "\t" + sizes[i] + "\t"
              + Arrays.stream(centres[i]).mapToObj(Double::toString).collect(Collectors.joining(",")));
    }
    spark.parallelize(lines, 1).saveAsTextFile(output + "/centres");
  }

  private static double[] numbers(String line) {
    return Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray();
  }

  private static int nearest(double[] point, double[][] centres) {
    int nearest = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < centres.length; i++) {
      double distance = 0;
      for (int j = 0; j < point.length; j++) {
        distance += (point[j] - centres[i][j]) * (point[j] - centres[i][j]);
      }
      if (distance < least) {
        least = distance;
        nearest = i;
      }
    }
    return nearest;
  }

  private static double[] sum(double[] left, double[] right) {
    return IntStream.range(0, left.length).mapToDouble(i -> left[i] + right[i]).toArray();
  }
}

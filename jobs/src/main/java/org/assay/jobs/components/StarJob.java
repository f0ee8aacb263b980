package org.assay.jobs.components;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.graph.VertexPair;

/**
 * Large-star and small-star (Kiveris et al., Connected Components in MapReduce and Beyond, SoCC
 * 2014). For a vertex u let m be the smallest of u and the neighbours that it is shown.
 *
 * <ul>
 *   <li>Large-star shows each vertex all its neighbours, and links the larger ones to m.
 *   <li>Small-star shows each vertex its smaller neighbours, and links them and u to m.
 * </ul>
 *
 * <p>Lines are {@code vertex<TAB>smaller vertex}. A line {@code u<TAB>u}, in the graph {@code u}
 * alone, says that u is there and has no smaller neighbour: large-star writes one for each such
 * vertex. So when nothing changes any more each vertex has one line, with its component. Text,
 * since two numbers of up to ten digits take fewer bytes than a record of a SequenceFile.
 *
 * <p>The shuffle carries pairs of 16 bytes and no values, sorted by both vertices and grouped by
 * the first: a group's smallest neighbour comes first, and no neighbours are held in memory. Equal
 * pairs, which come from different stars, are sets' elements: the combiner keeps one of each.
 *
 * <p>Maps of the first job may contract their pairs before they send them: each vertex of a bounded
 * number is then sent once, with the smallest that it is connected to.
 */
final class StarJob {
  private static final String LARGE = "assay.components.large-star";
  private static final String VERTICES_IN_MEMORY = "assay.components.vertices-in-memory";

  private StarJob() {}

  /**
   * Sets up a job from the graph, if it is the first, or from the lines of another one.
   *
   * @param mostVertices how many a map may hold to contract its pairs; 0 to send them as they are
   */
  static void configure(
      Job job, boolean large, int mostVertices, boolean first, Path input, Path output)
      throws IOException {
    configureMap(job, large, mostVertices, first);
    job.setPartitionerClass(FirstPartitioner.class);
    job.setGroupingComparatorClass(FirstGrouping.class);
    job.setReducerClass(large ? LargeReducer.class : SmallReducer.class);
    configurePaths(job, input, output);
  }

  /** Sets up the map side, whose pairs are of a larger vertex and a smaller one or itself. */
  static void configureMap(Job job, boolean large, int mostVertices, boolean first) {
    job.getConfiguration().setBoolean(LARGE, large);
    job.getConfiguration().setInt(VERTICES_IN_MEMORY, mostVertices);
    job.setMapperClass(first ? EdgeMapper.class : PairMapper.class);
    job.setCombinerClass(UniqueCombiner.class);
    job.setMapOutputKeyClass(VertexPair.class);
    job.setMapOutputValueClass(NullWritable.class);
  }

  /** Sets up what is read, and that lines are written. */
  static void configurePaths(Job job, Path input, Path output) throws IOException {
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** What a task holds vertices in, null if it may hold none. */
  static Forest forest(Configuration conf) {
    int mostVertices = conf.getInt(VERTICES_IN_MEMORY, 0);
    return mostVertices == 0 ? null : new Forest(mostVertices);
  }

  /** Shows the smaller vertex to the larger one, and in a large-star also the other way round. */
  private abstract static class StarMapper
      extends Mapper<LongWritable, Text, VertexPair, NullWritable> {
    private final VertexPair pair = new VertexPair();
    private Forest forest;
    private boolean large;
    private long sent;

    @Override
    protected final void setup(Context context) {
      large = context.getConfiguration().getBoolean(LARGE, false);
      forest = forest(context.getConfiguration());
    }

    final void take(long smaller, long larger, Context context)
        throws IOException, InterruptedException {
      if (forest == null) {
        show(smaller, larger, context);
      } else if (!forest.join(smaller, larger)) {
        release(context);
        forest.join(smaller, larger);
      }
    }

    private void release(Context context) throws IOException, InterruptedException {
      for (int at = 0; at < forest.size(); at++) {
        show(forest.smallest(at), forest.vertex(at), context);
      }
      forest.clear();
    }

    private void show(long smaller, long larger, Context context)
        throws IOException, InterruptedException {
      send(larger, smaller, context);
      if (large && smaller != larger) {
        send(smaller, larger, context);
      }
    }

    private void send(long vertex, long neighbour, Context context)
        throws IOException, InterruptedException {
      pair.set(vertex, neighbour);
      context.write(pair, NullWritable.get());
      sent++;
    }

    @Override
    protected final void cleanup(Context context) throws IOException, InterruptedException {
      if (forest != null) {
        release(context);
      }
      context.getCounter(StarCounter.SENT).increment(sent);
    }
  }

  /** Reads the canonical graph. */
  static final class EdgeMapper extends StarMapper {
    private final EdgeLine edge = new EdgeLine();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      edge.read(line);
      take(edge.smaller(), edge.larger(), context);
    }
  }

  /** Reads the lines of the former job. */
  static final class PairMapper extends StarMapper {
    private final IdScanner scanner = new IdScanner("\t");

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      long larger = next();
      take(next(), larger, context);
    }

    private long next() throws IOException {
      scanner.hasNext();
      return scanner.next();
    }
  }

  /** Keeps one of equal pairs. */
  static final class UniqueCombiner
      extends Reducer<VertexPair, NullWritable, VertexPair, NullWritable> {
    @Override
    protected void reduce(VertexPair pair, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(pair, NullWritable.get());
    }
  }

  /** Brings all neighbours of a vertex to one reducer. */
  static final class FirstPartitioner extends Partitioner<VertexPair, NullWritable> {
    private final VertexId first = new VertexId();

    @Override
    public int getPartition(VertexPair pair, NullWritable value, int partitions) {
      first.set(pair.first());
      return (first.hashCode() & Integer.MAX_VALUE) % partitions;
    }
  }

  /** Groups by the first vertex, on the serialized form. */
  static final class FirstGrouping extends WritableComparator {
    FirstGrouping() {
      super(VertexPair.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return compareBytes(left, leftStart, Long.BYTES, right, rightStart, Long.BYTES);
    }
  }

  /** Goes through the distinct neighbours of a vertex in ascending order. */
  private abstract static class StarReducer
      extends Reducer<VertexPair, NullWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private long changed;
    private long pairs;
    private long roots;

    /** Begins a vertex; {@code minimum} is the smallest of it and its neighbours. */
    abstract void begin(long vertex, long minimum, Context context)
        throws IOException, InterruptedException;

    /** Whether a neighbour is linked to the minimum. */
    abstract boolean isLinked(long neighbour, long vertex, long minimum);

    /** Whether linking the larger of vertex and neighbour to the minimum is news. */
    abstract boolean isNews(long vertex, long minimum);

    @Override
    protected final void reduce(VertexPair key, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      long vertex = key.first();
      long minimum = Math.min(vertex, key.second());
      begin(vertex, minimum, context);
      roots += minimum == vertex ? 1 : 0;
      long before = -1;
      for (NullWritable ignored : values) {
        // The key is the one that goes with the value.
        long neighbour = key.second();
        if (neighbour != before && isLinked(neighbour, vertex, minimum)) {
          write(neighbour, minimum, context);
          changed += isNews(vertex, minimum) ? 1 : 0;
        }
        before = neighbour;
      }
    }

    final void write(long vertex, long minimum, Context context)
        throws IOException, InterruptedException {
      line.clear().put(vertex).put('\t').put(minimum);
      context.write(NullWritable.get(), line.text());
      pairs++;
    }

    @Override
    protected final void cleanup(Context context) {
      context.getCounter(StarCounter.CHANGED).increment(changed);
      context.getCounter(StarCounter.PAIRS).increment(pairs);
      context.getCounter(StarCounter.ROOTS).increment(roots);
    }
  }

  /** Links the larger neighbours; a smaller one links this vertex in its own group. */
  static final class LargeReducer extends StarReducer {
    @Override
    void begin(long vertex, long minimum, Context context)
        throws IOException, InterruptedException {
      if (minimum == vertex) {
        write(vertex, vertex, context);
      }
    }

    @Override
    boolean isLinked(long neighbour, long vertex, long minimum) {
      return neighbour > vertex;
    }

    @Override
    boolean isNews(long vertex, long minimum) {
      return minimum < vertex;
    }
  }

  /** Links the vertex and its smaller neighbours but the smallest. */
  static final class SmallReducer extends StarReducer {
    @Override
    void begin(long vertex, long minimum, Context context)
        throws IOException, InterruptedException {
      write(vertex, minimum, context);
    }

    @Override
    boolean isLinked(long neighbour, long vertex, long minimum) {
      return neighbour != minimum && neighbour != vertex;
    }

    @Override
    boolean isNews(long vertex, long minimum) {
      return true;
    }
  }
}

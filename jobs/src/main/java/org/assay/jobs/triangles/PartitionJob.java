package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.degreeorder.PackedIds;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.graph.VertexTriple;

/**
 * Counting, the only job of triangle counting by parts (Afrati, Fotakis, Ullman, Enumerating
 * Subgraph Instances Using Map-Reduce, ICDE 2013; Suri, Vassilvitskii, WWW 2011).
 *
 * <p>A hash puts each vertex into one of p parts. A reducer gets, for three parts a, b, c in
 * ascending order, which may be the same, the edges between a and b, b and c, and a and c: each
 * edge is sent p times. It holds them in memory and counts the triangles with corners in these
 * three parts. The shuffle carries edges in blocks, a record for each and for each three parts.
 *
 * <p>Each reduce task writes one line with its count at its end, also when it counted nothing, so
 * the number of triangles is the sum of the output's lines.
 */
final class PartitionJob {
  /** So many that a map's blocks, one for each two parts, stay small. */
  static final int MOST_PARTS = 200;

  private static final String PARTS = "assay.triangles.parts";
  private static final String EDGES_IN_MEMORY = "assay.triangles.edges-in-memory";

  private PartitionJob() {}

  static void configure(Job job, int parts, int mostEdges, Path input, Path output)
      throws IOException {
    job.getConfiguration().setInt(PARTS, parts);
    job.getConfiguration().setInt(EDGES_IN_MEMORY, mostEdges);
    job.setMapperClass(PartMapper.class);
    job.setReducerClass(PartReducer.class);
    job.setMapOutputKeyClass(VertexTriple.class);
    job.setMapOutputValueClass(PackedIds.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Says in which part a vertex is. */
  private static final class Parts {
    private final VertexId id = new VertexId();
    private final int count;

    private Parts(Configuration conf) {
      count = conf.getInt(PARTS, 1);
    }

    /** By the upper bits of the hash, as tables of vertices use the lower ones. */
    int of(long vertex) {
      id.set(vertex);
      return (int) ((Integer.toUnsignedLong(id.hashCode()) * count) >>> Integer.SIZE);
    }
  }

  /** Sends the edges between each two parts. */
  static final class PartMapper extends Mapper<LongWritable, Text, VertexTriple, PackedIds> {
    /** In all blocks of a map. */
    private static final int EDGES_HELD = 1 << 20;

    private static final int LARGEST_BLOCK = 1 << 13;

    private final EdgeLine edge = new EdgeLine();
    private final VertexTriple group = new VertexTriple();
    private Parts parts;

    /** Ends of edges by the larger part and the smaller one. */
    private PackedIds[][] blocks;

    private int[][] sizes;
    private int largestSize;
    private long edges;

    @Override
    protected void setup(Context context) {
      parts = new Parts(context.getConfiguration());
      blocks = new PackedIds[parts.count][];
      sizes = new int[parts.count][];
      for (int larger = 0; larger < parts.count; larger++) {
        sizes[larger] = new int[larger + 1];
        blocks[larger] = new PackedIds[larger + 1];
        for (int smaller = 0; smaller <= larger; smaller++) {
          blocks[larger][smaller] = new PackedIds();
        }
      }
      int pairs = parts.count * (parts.count + 1) / 2;
      largestSize = Math.min(LARGEST_BLOCK, EDGES_HELD / pairs);
    }

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      if (!edge.read(line)) {
        return;
      }
      edges++;
      int part = parts.of(edge.smaller());
      int other = parts.of(edge.larger());
      int larger = Math.max(part, other);
      int smaller = Math.min(part, other);
      blocks[larger][smaller].add(edge.smaller());
      blocks[larger][smaller].add(edge.larger());
      if (++sizes[larger][smaller] == largestSize) {
        send(larger, smaller, context);
      }
    }

    private void send(int larger, int smaller, Context context)
        throws IOException, InterruptedException {
      for (int third = 0; third < parts.count; third++) {
        int lowest = Math.min(smaller, third);
        int highest = Math.max(larger, third);
        group.set(lowest, smaller + larger + third - lowest - highest, highest);
        context.write(group, blocks[larger][smaller]);
      }
      blocks[larger][smaller].clear();
      sizes[larger][smaller] = 0;
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (int larger = 0; larger < parts.count; larger++) {
        for (int smaller = 0; smaller <= larger; smaller++) {
          if (sizes[larger][smaller] > 0) {
            send(larger, smaller, context);
          }
        }
      }
      context.getCounter(TriangleCounter.EDGES).increment(edges);
    }
  }

  /** Counts the triangles of each three parts. */
  static final class PartReducer extends Reducer<VertexTriple, PackedIds, NullWritable, Text> {
    private final EdgesInMemory graph = new EdgesInMemory();
    private final IdList ends = new IdList();
    private Parts parts;
    private int mostEdges;
    private long triangles;

    @Override
    protected void setup(Context context) {
      parts = new Parts(context.getConfiguration());
      mostEdges = context.getConfiguration().getInt(EDGES_IN_MEMORY, Integer.MAX_VALUE);
    }

    @Override
    protected void reduce(VertexTriple group, Iterable<PackedIds> blocks, Context context)
        throws IOException {
      graph.clear();
      for (PackedIds block : blocks) {
        block.unpack(ends);
        if (graph.edges() > mostEdges - ends.size() / 2) {
          throw new IOException(
              "three parts of the graph have more than "
                  + mostEdges
                  + " edges among them; raise --edges-in-memory, and the reducers' heap with it");
        }
        for (int i = 0; i < ends.size(); i += 2) {
          graph.add(ends.get(i), ends.get(i + 1));
        }
      }
      // With edges of a group only, no other three parts of theirs have the same sum.
      long sum = group.first() + group.second() + group.candidate();
      triangles += graph.triangles(parts::of, sum);
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      context.getCounter(TriangleCounter.TRIANGLES).increment(triangles);
      context.write(NullWritable.get(), new LineBuilder().put(triangles).text());
    }
  }
}

package org.assay.jobs.normalise;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.graph.VertexPair;

/**
 * The job behind {@code normalise}.
 *
 * <p>The map sends an edge under the pair (smaller, larger) with the direction in which it was
 * listed, and every vertex that isn't the smaller one of its line under the pair (vertex, vertex).
 * A reducer gets all pairs with the same first vertex, in order, so (u, u) arrives before the edges
 * of u: it knows at the next first vertex whether u has an edge.
 */
final class NormaliseJob {
  /** The edge was listed with the smaller vertex first. */
  static final byte FORWARD = 0;

  /** The edge was listed with the larger vertex first. */
  static final byte BACKWARD = 1;

  /** The vertex is the larger one of an edge. */
  static final byte HAS_EDGE = 2;

  /** The vertex was met in a self loop, or alone. */
  static final byte EXISTS = 3;

  private NormaliseJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(GraphTextMapper.class);
    job.setCombinerClass(MarkCombiner.class);
    job.setPartitionerClass(FirstVertexPartitioner.class);
    job.setReducerClass(EdgeReducer.class);
    job.setMapOutputKeyClass(VertexPair.class);
    job.setMapOutputValueClass(ByteWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    // A line that can't be read is no better at the second attempt.
    job.setMaxMapAttempts(1);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends all pairs of a vertex to the same reducer. */
  static final class FirstVertexPartitioner extends Partitioner<VertexPair, ByteWritable> {
    private final VertexId first = new VertexId();

    @Override
    public int getPartition(VertexPair pair, ByteWritable kind, int partitions) {
      first.set(pair.first());
      return (first.hashCode() & Integer.MAX_VALUE) % partitions;
    }
  }

  /** Passes one mark of a kind per vertex; lines of edges are counted, so they all pass. */
  static final class MarkCombiner
      extends Reducer<VertexPair, ByteWritable, VertexPair, ByteWritable> {
    private final ByteWritable mark = new ByteWritable();

    @Override
    protected void reduce(VertexPair pair, Iterable<ByteWritable> kinds, Context context)
        throws IOException, InterruptedException {
      boolean hasEdge = false;
      boolean isMark = false;
      for (ByteWritable kind : kinds) {
        if (pair.first() != pair.second()) {
          context.write(pair, kind);
        } else {
          isMark = true;
          hasEdge |= kind.get() == HAS_EDGE;
        }
      }
      if (isMark) {
        mark.set(hasEdge ? HAS_EDGE : EXISTS);
        context.write(pair, mark);
      }
    }
  }

  /** Writes each edge once, and the vertices that have none. */
  static final class EdgeReducer extends Reducer<VertexPair, ByteWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private Tally tally;
    private final long[] lines = new long[4];
    private boolean started;
    private boolean lone;
    private long vertex;

    @Override
    protected void setup(Context context) {
      tally = new Tally(context);
    }

    @Override
    protected void reduce(VertexPair pair, Iterable<ByteWritable> kinds, Context context)
        throws IOException, InterruptedException {
      if (!started || pair.first() != vertex) {
        writeLoneVertex(context);
        started = true;
        vertex = pair.first();
        tally.add(NormaliseCounter.VERTICES, 1);
      }
      Arrays.fill(lines, 0);
      for (ByteWritable kind : kinds) {
        lines[kind.get()]++;
      }
      if (pair.second() == vertex) {
        lone = lines[HAS_EDGE] == 0;
        return;
      }
      lone = false;
      line.clear().put(vertex).put('\t').put(pair.second());
      context.write(NullWritable.get(), line.text());
      tally.add(NormaliseCounter.EDGES, 1);
      tally.add(NormaliseCounter.DUPLICATES, lines[FORWARD] + lines[BACKWARD] - 1);
      tally.add(NormaliseCounter.REVERSED_DUPLICATES, Math.min(lines[FORWARD], lines[BACKWARD]));
    }

    private void writeLoneVertex(Context context) throws IOException, InterruptedException {
      if (lone) {
        context.write(NullWritable.get(), line.clear().put(vertex).text());
        tally.add(NormaliseCounter.LONE_VERTICES, 1);
        lone = false;
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      writeLoneVertex(context);
    }
  }
}

package org.assay.jobs.degreeorder;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/**
 * Degrees: job 1 of the workloads in degree order.
 *
 * <p>Reads canonical edges. Writes a binary record per vertex with its neighbours in ascending
 * order, each once, so that the length of the list is its degree; a vertex without an edge has an
 * empty list. The shuffle carries two records per edge.
 */
public final class NeighboursJob {
  private NeighboursJob() {}

  /** Sets up a job from {@code input} to {@code output}. */
  public static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(EdgeMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VLongWritable.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(PackedIds.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each edge to both of its vertices, and a vertex without an edge to itself. */
  static final class EdgeMapper extends Mapper<LongWritable, Text, VertexId, VLongWritable> {
    private final EdgeLine edge = new EdgeLine();
    private final VertexId vertex = new VertexId();
    private final VLongWritable neighbour = new VLongWritable();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      boolean isEdge = edge.read(line);
      send(edge.smaller(), edge.larger(), context);
      if (isEdge) {
        send(edge.larger(), edge.smaller(), context);
      }
    }

    private void send(long to, long from, Context context)
        throws IOException, InterruptedException {
      vertex.set(to);
      neighbour.set(from);
      context.write(vertex, neighbour);
    }
  }

  /** Writes the list of a vertex; the vertex itself only says that the vertex exists. */
  static final class ListReducer extends Reducer<VertexId, VLongWritable, VertexId, PackedIds> {
    private final IdList neighbours = new IdList();
    private final PackedIds packed = new PackedIds();
    private long vertices;

    @Override
    protected void reduce(VertexId vertex, Iterable<VLongWritable> values, Context context)
        throws IOException, InterruptedException {
      neighbours.clear();
      for (VLongWritable neighbour : values) {
        if (neighbour.get() != vertex.vertex()) {
          neighbours.add(neighbour.get());
        }
      }
      neighbours.sortUnique();
      packed.pack(neighbours);
      context.write(vertex, packed);
      vertices++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(DegreeOrderCounter.VERTICES).increment(vertices);
    }
  }
}

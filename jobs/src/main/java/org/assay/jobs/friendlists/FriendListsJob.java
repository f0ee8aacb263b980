package org.assay.jobs.friendlists;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;

/**
 * Friend lists: job 1 of mutual friends, and the preparation of connected components.
 *
 * <p>Reads canonical edges. Writes a line {@code v n1 n2 ...} per vertex with its neighbours in
 * ascending order, each once; a vertex without an edge has a line with its number only. The shuffle
 * carries two records of 16 bytes per edge. Source: the study of network analysis on Hadoop, mutual
 * friends, job 1.
 */
public final class FriendListsJob {
  private FriendListsJob() {}

  /** Sets up a job from {@code input} to {@code output}. */
  public static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(EdgeMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VertexId.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each edge to both of its vertices, and a vertex without an edge to itself. */
  static final class EdgeMapper extends Mapper<LongWritable, Text, VertexId, VertexId> {
    private final EdgeLine edge = new EdgeLine();
    private final VertexId smaller = new VertexId();
    private final VertexId larger = new VertexId();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      boolean isEdge = edge.read(line);
      smaller.set(edge.smaller());
      larger.set(edge.larger());
      context.write(smaller, larger);
      if (isEdge) {
        context.write(larger, smaller);
      }
    }
  }

  /** Writes the list of a vertex; the vertex itself only says that the vertex exists. */
  public static class ListReducer extends Reducer<VertexId, VertexId, NullWritable, Text> {
    private final IdList neighbours = new IdList();
    private final LineBuilder line = new LineBuilder();
    private long vertices;
    private long entries;

    @Override
    protected void reduce(VertexId vertex, Iterable<VertexId> values, Context context)
        throws IOException, InterruptedException {
      neighbours.clear();
      for (VertexId neighbour : values) {
        if (neighbour.vertex() != vertex.vertex()) {
          neighbours.add(neighbour.vertex());
        }
      }
      neighbours.sortUnique();
      line.clear().put(vertex.vertex());
      if (neighbours.size() > 0) {
        line.put(' ').put(neighbours, ' ');
      }
      context.write(NullWritable.get(), line.text());
      vertices++;
      entries += neighbours.size();
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(FriendListCounter.VERTICES).increment(vertices);
      context.getCounter(FriendListCounter.NEIGHBOURS).increment(entries);
    }
  }
}

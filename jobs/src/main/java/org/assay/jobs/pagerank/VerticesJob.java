package org.assay.jobs.pagerank;

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
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;

/**
 * Lists and counts the vertices, before the first iteration: a line with the number of each. The
 * rank that it starts with follows from their count.
 */
final class VerticesJob {
  private VerticesJob() {}

  static void configure(Job job, Path edges, Path output) throws IOException {
    job.setMapperClass(EndMapper.class);
    job.setCombinerClass(OnceCombiner.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(NullWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, edges);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each end of an edge. */
  static final class EndMapper extends Mapper<LongWritable, Text, VertexId, NullWritable> {
    private final DirectedEdge edge = new DirectedEdge();
    private final VertexId vertex = new VertexId();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      boolean isEdge = edge.read(line);
      vertex.set(edge.source());
      context.write(vertex, NullWritable.get());
      if (isEdge) {
        vertex.set(edge.target());
        context.write(vertex, NullWritable.get());
      }
    }
  }

  /** Sends a vertex once. */
  static final class OnceCombiner extends Reducer<VertexId, NullWritable, VertexId, NullWritable> {
    @Override
    protected void reduce(VertexId vertex, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(vertex, NullWritable.get());
    }
  }

  /** Writes a vertex once. */
  static final class ListReducer extends Reducer<VertexId, NullWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private long vertices;

    @Override
    protected void reduce(VertexId vertex, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(NullWritable.get(), line.clear().put(vertex.vertex()).text());
      vertices++;
    }

    @Override
    protected void cleanup(Context context) {
      PageRankCounter.VERTICES.add(context, vertices);
    }
  }
}

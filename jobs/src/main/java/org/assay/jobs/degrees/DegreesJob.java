package org.assay.jobs.degrees;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.EdgeLine;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.sums.SumCombiner;

/**
 * Degrees: job 1 of the degree distribution.
 *
 * <p>Reads canonical edges, each once. Writes {@code vertex<TAB>degree} per vertex; a vertex
 * without an edge has degree 0. A map task sends one record per end of an edge, added up by vertex
 * when it spills.
 */
final class DegreesJob {
  private DegreesJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(EndMapper.class);
    job.setCombinerClass(SumCombiner.class);
    job.setReducerClass(DegreeReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VLongWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends one to both ends of an edge, and nothing, as the number zero, to a lone vertex. */
  static final class EndMapper extends Mapper<LongWritable, Text, VertexId, VLongWritable> {
    private final EdgeLine edge = new EdgeLine();
    private final VertexId vertex = new VertexId();
    private final VLongWritable one = new VLongWritable(1);
    private final VLongWritable zero = new VLongWritable(0);

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      boolean isEdge = edge.read(line);
      vertex.set(edge.smaller());
      context.write(vertex, isEdge ? one : zero);
      if (isEdge) {
        vertex.set(edge.larger());
        context.write(vertex, one);
      }
    }
  }

  /** Writes the degree of a vertex. */
  static final class DegreeReducer extends Reducer<VertexId, VLongWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private long vertices;
    private long ends;

    @Override
    protected void reduce(VertexId vertex, Iterable<VLongWritable> numbers, Context context)
        throws IOException, InterruptedException {
      long degree = SumCombiner.sum(numbers);
      line.clear().put(vertex.vertex()).put('\t').put(degree);
      context.write(NullWritable.get(), line.text());
      vertices++;
      ends += degree;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(DegreeCounter.VERTICES).increment(vertices);
      context.getCounter(DegreeCounter.EDGE_ENDS).increment(ends);
    }
  }
}

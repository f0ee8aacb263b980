package org.assay.jobs.clustering;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.VertexId;

/**
 * Coefficients: job 4, the last one, of the clustering coefficient.
 *
 * <p>Reads the parts of {@link CornersJob} and adds them up, in the combiner too: sums of sums are
 * right. Writes a line {@code vertex<TAB>degree<TAB>triangles<TAB>coefficient} per vertex, the
 * coefficient as a decimal number that reads back as the same double.
 */
final class CoefficientsJob {
  private static final double E9 = 1e9;

  private CoefficientsJob() {}

  static void configure(Job job, Path parts, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(Mapper.class);
    job.setCombinerClass(SumCombiner.class);
    job.setReducerClass(CoefficientReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VertexCounts.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, parts);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Adds up the parts of a vertex in one map's output. */
  static final class SumCombiner extends Reducer<VertexId, VertexCounts, VertexId, VertexCounts> {
    private final VertexCounts sum = new VertexCounts();

    @Override
    protected void reduce(VertexId vertex, Iterable<VertexCounts> parts, Context context)
        throws IOException, InterruptedException {
      sum.setSum(parts);
      context.write(vertex, sum);
    }
  }

  /** Adds up the parts of a vertex and writes its line. */
  static final class CoefficientReducer
      extends Reducer<VertexId, VertexCounts, NullWritable, Text> {
    private final VertexCounts sum = new VertexCounts();
    private final Text line = new Text();
    private long vertices;
    private long wedges;
    private long corners;
    private double coefficients;

    @Override
    protected void reduce(VertexId vertex, Iterable<VertexCounts> parts, Context context)
        throws IOException, InterruptedException {
      sum.setSum(parts);
      double coefficient = sum.coefficient();
      line.set(vertex.vertex() + "\t" + sum.degree() + "\t" + sum.triangles() + "\t" + coefficient);
      context.write(NullWritable.get(), line);
      vertices++;
      wedges += sum.wedges();
      corners += sum.triangles();
      coefficients += coefficient;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(ClusteringCounter.VERTICES).increment(vertices);
      context.getCounter(ClusteringCounter.ALL_WEDGES).increment(wedges);
      context.getCounter(ClusteringCounter.CORNERS).increment(corners);
      context
          .getCounter(ClusteringCounter.COEFFICIENTS_E9)
          .increment(Math.round(coefficients * E9));
    }
  }
}

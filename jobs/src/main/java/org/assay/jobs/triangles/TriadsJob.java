package org.assay.jobs.triangles;

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
 * Triads: job 1 of triangle counting.
 *
 * <p>Reads canonical edges. For each vertex a it writes {@code a<TAB>b<TAB>0} per larger neighbour
 * b, and {@code b<TAB>c<TAB>1} per pair of larger neighbours, b smaller than c: the open side of
 * the triad with apex a. Vertices are compared as numbers everywhere. Neighbours are made unique
 * first, so a repeated edge adds nothing.
 */
final class TriadsJob {
  private TriadsJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(EdgeMapper.class);
    job.setReducerClass(TriadReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(VertexId.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends the larger vertex of each edge to the smaller one. */
  static final class EdgeMapper extends Mapper<LongWritable, Text, VertexId, VertexId> {
    private final EdgeLine edge = new EdgeLine();
    private final VertexId smaller = new VertexId();
    private final VertexId larger = new VertexId();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      if (edge.read(line)) {
        smaller.set(edge.smaller());
        larger.set(edge.larger());
        context.write(smaller, larger);
      }
    }
  }

  /** Writes the edges and the triads of an apex. */
  static final class TriadReducer extends Reducer<VertexId, VertexId, NullWritable, Text> {
    private final IdList neighbours = new IdList();
    private final LineBuilder line = new LineBuilder();
    private long edges;
    private long wedges;

    @Override
    protected void reduce(VertexId apex, Iterable<VertexId> values, Context context)
        throws IOException, InterruptedException {
      neighbours.clear();
      for (VertexId neighbour : values) {
        neighbours.add(neighbour.vertex());
      }
      neighbours.sortUnique();
      long size = neighbours.size();
      edges += size;
      wedges += size * (size - 1) / 2;
      writePairs(apex.vertex(), 0, '0', context);
      for (int i = 0; i < size - 1; i++) {
        writePairs(neighbours.get(i), i + 1, '1', context);
      }
    }

    private void writePairs(long first, int from, char flag, Context context)
        throws IOException, InterruptedException {
      int beginning = line.clear().put(first).put('\t').length();
      for (int i = from; i < neighbours.size(); i++) {
        line.truncate(beginning).put(neighbours.get(i)).put('\t').put(flag);
        context.write(NullWritable.get(), line.text());
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(TriangleCounter.EDGES).increment(edges);
      context.getCounter(TriangleCounter.WEDGES).increment(wedges);
    }
  }
}

package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.graph.VertexId;

/** Before the first iteration of the tuned variant: each vertex with its targets, in binary. */
final class AdjacencyJob {
  private AdjacencyJob() {}

  static void configure(Job job, Path edges, Path output) throws IOException {
    job.setMapperClass(EndsMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(Item.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(RankedVertex.class);
    FileInputFormat.addInputPath(job, edges);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Writes a vertex; its rank is that of the start, which isn't known yet. */
  static final class ListReducer extends Reducer<VertexId, Item, VertexId, RankedVertex> {
    private final RankedVertex listed = new RankedVertex();
    private long vertices;
    private long edges;
    private long dangling;

    @Override
    protected void reduce(VertexId vertex, Iterable<Item> items, Context context)
        throws IOException, InterruptedException {
      listed.targets().clear();
      for (Item item : items) {
        if (item.isTarget()) {
          listed.targets().add(item.target());
        }
      }
      listed.targets().sortUnique();
      listed.setVertex(Double.NaN);
      context.write(vertex, listed);
      vertices++;
      edges += listed.targets().size();
      dangling += listed.targets().size() == 0 ? 1 : 0;
    }

    @Override
    protected void cleanup(Context context) {
      PageRankCounter.VERTICES.add(context, vertices);
      PageRankCounter.EDGES.add(context, edges);
      PageRankCounter.DANGLING_VERTICES.add(context, dangling);
    }
  }
}

package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.sums.CompensatedSum;

/**
 * The first job of an iteration: joins each vertex's edges with its rank, and gives every target an
 * equal share of it. The shuffle carries a record per edge and one per vertex, and so does the
 * output, in binary. The targets of one vertex are held in memory.
 */
final class JoinJob {
  private JoinJob() {}

  @SuppressWarnings("rawtypes") // as MultipleInputs has it
  static void configure(Job job, Path edges, Path ranks, Path output) throws IOException {
    Class<? extends InputFormat> ofLines =
        job.getConfiguration()
            .getClass(
                MRJobConfig.INPUT_FORMAT_CLASS_ATTR, TextInputFormat.class, InputFormat.class);
    MultipleInputs.addInputPath(job, edges, ofLines, EdgeMapper.class);
    MultipleInputs.addInputPath(job, ranks, ofLines, RankMapper.class);
    job.setReducerClass(ShareReducer.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(Item.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each edge to its source. */
  static final class EdgeMapper extends Mapper<LongWritable, Text, VertexId, Item> {
    private final DirectedEdge edge = new DirectedEdge();
    private final VertexId source = new VertexId();
    private final Item target = new Item();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      if (edge.read(line)) {
        source.set(edge.source());
        target.setTarget(edge.target());
        context.write(source, target);
      }
    }
  }

  /** Sends each rank to its vertex. */
  static final class RankMapper extends Mapper<LongWritable, Text, VertexId, Item> {
    private final RankLine line = new RankLine();
    private final VertexId vertex = new VertexId();
    private final Item rank = new Item();
    private double start;

    @Override
    protected void setup(Context context) {
      start = Formula.of(context.getConfiguration()).start();
    }

    @Override
    protected void map(LongWritable offset, Text text, Context context)
        throws IOException, InterruptedException {
      line.read(text, start);
      vertex.set(line.vertex());
      rank.setRank(line.rank());
      context.write(vertex, rank);
    }
  }

  /** Writes a vertex's own rank, and a share of it for each target. */
  static final class ShareReducer extends Reducer<VertexId, Item, VertexId, Item> {
    private final IdList targets = new IdList();
    private final VertexId target = new VertexId();
    private final Item item = new Item();
    private final CompensatedSum danglingRank = new CompensatedSum();
    private long dangling;
    private long edges;

    @Override
    protected void reduce(VertexId vertex, Iterable<Item> items, Context context)
        throws IOException, InterruptedException {
      targets.clear();
      double rank = Double.NaN;
      for (Item found : items) {
        if (found.isRank()) {
          rank = found.number();
        } else {
          targets.add(found.target());
        }
      }
      if (Double.isNaN(rank)) {
        throw new IOException("vertex " + vertex + " has an edge and no rank");
      }
      targets.sortUnique();
      item.setRank(rank);
      context.write(vertex, item);
      item.setShare(rank / targets.size());
      for (int i = 0; i < targets.size(); i++) {
        target.set(targets.get(i));
        context.write(target, item);
      }
      edges += targets.size();
      if (targets.size() == 0) {
        dangling++;
        danglingRank.add(rank);
      }
    }

    @Override
    protected void cleanup(Context context) {
      PageRankCounter.EDGES.add(context, edges);
      PageRankCounter.DANGLING_VERTICES.add(context, dangling);
      PageRankCounter.DANGLING_RANK.add(context, danglingRank);
    }
  }
}

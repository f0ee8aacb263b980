package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.sums.CompensatedSum;

/**
 * A whole iteration of the tuned variant: vertices with their targets pass through, and their ranks
 * go to the targets in shares, which a combiner adds up.
 */
final class SpreadJob {
  private SpreadJob() {}

  static void configure(Job job, Path vertices, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(ShareMapper.class);
    job.setCombinerClass(ShareCombiner.class);
    job.setReducerClass(RankReducer.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(RankedVertex.class);
    FileInputFormat.addInputPath(job, vertices);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Passes a vertex, and gives its targets their shares. */
  static final class ShareMapper extends Mapper<VertexId, RankedVertex, VertexId, RankedVertex> {
    private final VertexId target = new VertexId();
    private final RankedVertex share = new RankedVertex();
    private double start;

    @Override
    protected void setup(Context context) {
      start = Formula.of(context.getConfiguration()).start();
    }

    @Override
    protected void map(VertexId vertex, RankedVertex ranked, Context context)
        throws IOException, InterruptedException {
      if (Double.isNaN(ranked.number())) {
        ranked.setVertex(start);
      }
      context.write(vertex, ranked);
      int targets = ranked.targets().size();
      share.setShare(ranked.number() / targets);
      for (int i = 0; i < targets; i++) {
        target.set(ranked.targets().get(i));
        context.write(target, share);
      }
    }
  }

  /** Adds up shares; the vertex itself passes. */
  static final class ShareCombiner extends Reducer<VertexId, RankedVertex, VertexId, RankedVertex> {
    private final CompensatedSum shares = new CompensatedSum();
    private final RankedVertex combined = new RankedVertex();

    @Override
    protected void reduce(VertexId vertex, Iterable<RankedVertex> values, Context context)
        throws IOException, InterruptedException {
      shares.clear();
      boolean any = false;
      for (RankedVertex value : values) {
        if (value.isVertex()) {
          context.write(vertex, value);
        } else {
          shares.add(value.number());
          any = true;
        }
      }
      if (any) {
        combined.setShare(shares.value());
        context.write(vertex, combined);
      }
    }
  }

  /** Writes a vertex with its new rank. */
  static final class RankReducer extends Reducer<VertexId, RankedVertex, VertexId, RankedVertex> {
    private final RankedVertex ranked = new RankedVertex();
    private final CompensatedSum shares = new CompensatedSum();
    private final CompensatedSum change = new CompensatedSum();
    private final CompensatedSum total = new CompensatedSum();
    private final CompensatedSum danglingRank = new CompensatedSum();
    private Formula formula;

    @Override
    protected void setup(Context context) {
      formula = Formula.of(context.getConfiguration());
    }

    @Override
    protected void reduce(VertexId vertex, Iterable<RankedVertex> values, Context context)
        throws IOException, InterruptedException {
      shares.clear();
      boolean found = false;
      for (RankedVertex value : values) {
        if (value.isVertex()) {
          ranked.copyFrom(value);
          found = true;
        } else {
          shares.add(value.number());
        }
      }
      if (!found) {
        throw new IOException("vertex " + vertex + " got a share and is not among the vertices");
      }
      double rank = formula.rank(shares.value());
      change.add(Math.abs(rank - ranked.number()));
      total.add(rank);
      if (ranked.targets().size() == 0) {
        danglingRank.add(rank);
      }
      ranked.setVertex(rank);
      context.write(vertex, ranked);
    }

    @Override
    protected void cleanup(Context context) {
      PageRankCounter.CHANGE.add(context, change);
      PageRankCounter.RANK.add(context, total);
      PageRankCounter.DANGLING_RANK.add(context, danglingRank);
    }
  }
}

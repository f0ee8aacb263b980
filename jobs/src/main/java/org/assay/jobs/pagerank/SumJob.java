package org.assay.jobs.pagerank;

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
import org.assay.jobs.sums.CompensatedSum;

/**
 * The second job of an iteration: adds up the shares of each vertex and compares its new rank with
 * the old one. It reads what {@link JoinJob} wrote, and writes a line {@code vertex<TAB>rank}.
 */
final class SumJob {
  private SumJob() {}

  static void configure(Job job, Path shares, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(PassingMapper.class);
    job.setReducerClass(RankReducer.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(Item.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, shares);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Passes what it reads. */
  static final class PassingMapper extends Mapper<VertexId, Item, VertexId, Item> {}

  /** Writes the new rank of a vertex. */
  static final class RankReducer extends Reducer<VertexId, Item, NullWritable, Text> {
    private final RankLine line = new RankLine();
    private final CompensatedSum shares = new CompensatedSum();
    private final CompensatedSum change = new CompensatedSum();
    private final CompensatedSum total = new CompensatedSum();
    private Formula formula;
    private long vertices;

    @Override
    protected void setup(Context context) {
      formula = Formula.of(context.getConfiguration());
    }

    @Override
    protected void reduce(VertexId vertex, Iterable<Item> items, Context context)
        throws IOException, InterruptedException {
      shares.clear();
      double before = Double.NaN;
      for (Item item : items) {
        if (item.isRank()) {
          before = item.number();
        } else {
          shares.add(item.number());
        }
      }
      double after = formula.rank(shares.value());
      context.write(NullWritable.get(), line.text(vertex.vertex(), after));
      change.add(Math.abs(after - before));
      total.add(after);
      vertices++;
    }

    @Override
    protected void cleanup(Context context) {
      PageRankCounter.VERTICES.add(context, vertices);
      PageRankCounter.CHANGE.add(context, change);
      PageRankCounter.RANK.add(context, total);
    }
  }
}

package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.VertexId;

/** After the last iteration of the tuned variant: the ranks as text, without the edges. */
final class RanksJob {
  private RanksJob() {}

  static void configure(Job job, Path vertices, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(TextMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, vertices);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Writes a line per vertex. */
  static final class TextMapper extends Mapper<VertexId, RankedVertex, NullWritable, Text> {
    private final RankLine line = new RankLine();

    @Override
    protected void map(VertexId vertex, RankedVertex ranked, Context context)
        throws IOException, InterruptedException {
      context.write(NullWritable.get(), line.text(vertex.vertex(), ranked.number()));
    }
  }
}

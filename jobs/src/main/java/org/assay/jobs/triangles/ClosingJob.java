package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexPair;

/**
 * Closing: job 2 of triangle counting.
 *
 * <p>Reads the edges and triads of job 1; the shuffle carries pair and flag, 17 bytes each. If the
 * flags of a pair sum to less than their number, one of them is an edge's 0, which closes as many
 * triads as there are ones. There is no combiner: it would change the number of flags. Each reduce
 * task writes one line {@code 0<TAB>count} at its end, also when it counted nothing.
 */
final class ClosingJob {
  private ClosingJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(PairMapper.class);
    job.setReducerClass(CountingReducer.class);
    job.setMapOutputKeyClass(VertexPair.class);
    job.setMapOutputValueClass(ByteWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Takes a line apart into pair and flag. */
  static final class PairMapper extends Mapper<LongWritable, Text, VertexPair, ByteWritable> {
    private final IdScanner scanner = new IdScanner("\t");
    private final VertexPair pair = new VertexPair();
    private final ByteWritable flag = new ByteWritable();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      long first = next();
      long second = next();
      pair.set(first, second);
      flag.set((byte) next());
      context.write(pair, flag);
    }

    private long next() throws IOException {
      scanner.hasNext();
      return scanner.next();
    }
  }

  /** Writes one line per task. */
  static final class CountingReducer extends ClosingReducer<VertexPair> {
    @Override
    protected void tell(long triangles, Context context) throws IOException, InterruptedException {
      context.getCounter(TriangleCounter.TRIANGLES).increment(triangles);
      LineBuilder line = new LineBuilder();
      context.write(NullWritable.get(), line.put(0).put('\t').put(triangles).text());
    }
  }
}

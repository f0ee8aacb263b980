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
import org.assay.jobs.degreeorder.DegreeOrderCounter;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.PackedPair;

/**
 * Closing: job 3, the last one, of the tuned triangle counting.
 *
 * <p>Reads the lines of {@link DegreeTriadsJob}; the shuffle carries pair and flag. An edge's flag
 * 0 among those of a pair closes as many triads as there are ones. There is no combiner: it would
 * change the number of flags. Each reduce task writes one line with its count at its end, also when
 * it counted nothing, so the number of triangles is the sum of the output's lines.
 */
final class DegreeClosingJob {
  private DegreeClosingJob() {}

  static void configure(Job job, Path triads, Path output) throws IOException {
    job.setMapperClass(PairMapper.class);
    job.setReducerClass(CountingReducer.class);
    job.setMapOutputKeyClass(PackedPair.class);
    job.setMapOutputValueClass(ByteWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, triads);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Takes a line apart into pair and flag. */
  static final class PairMapper extends Mapper<LongWritable, Text, PackedPair, ByteWritable> {
    private final IdScanner scanner = new IdScanner("\t");
    private final PackedPair pair = new PackedPair();
    private final ByteWritable flag = new ByteWritable();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      long first = next();
      pair.setUnordered(first, next());
      flag.set((byte) next());
      context.write(pair, flag);
    }

    private long next() throws IOException {
      scanner.hasNext();
      return scanner.next();
    }
  }

  /** Writes one line per task. */
  static final class CountingReducer extends ClosingReducer<PackedPair> {
    @Override
    protected void tell(long triangles, Context context) throws IOException, InterruptedException {
      context.getCounter(DegreeOrderCounter.TRIANGLES).increment(triangles);
      context.write(NullWritable.get(), new LineBuilder().put(triangles).text());
    }
  }
}

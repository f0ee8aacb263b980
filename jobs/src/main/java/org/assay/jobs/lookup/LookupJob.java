package org.assay.jobs.lookup;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.driver.InputRows;
import org.assay.jobs.sums.SumCombiner;

/**
 * The values of the rows that are asked for, added up by group: the only job of the lookup.
 *
 * <p>Reads lines as {@link RowLine} does. Maps hold the list of the asked rows and pass over all
 * others, which input formats may have left out. Writes {@code group<TAB>sum}.
 */
final class LookupJob {
  private LookupJob() {}

  static void configure(Job job, Path input, Path asked, Path output) throws IOException {
    InputRows.use(job.getConfiguration(), asked);
    job.setMapperClass(RowMapper.class);
    job.setCombinerClass(SumCombiner.class);
    job.setReducerClass(SumCombiner.class);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(VLongWritable.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends the value of each asked row to its group. */
  static final class RowMapper extends Mapper<LongWritable, Text, LongWritable, VLongWritable> {
    private final RowLine row = new RowLine();
    private final LongWritable group = new LongWritable();
    private final VLongWritable value = new VLongWritable();
    private AskedRows asked;
    private long lines;
    private long rows;
    private long bytes;

    @Override
    protected void setup(Context context) throws IOException {
      Configuration conf = context.getConfiguration();
      asked = AskedRows.read(conf, InputRows.list(conf));
    }

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      lines++;
      if (asked.has(row.row(line))) {
        group.set(row.next());
        value.set(row.next());
        context.write(group, value);
        rows++;
        bytes += line.getLength();
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(LookupCounter.LINES_READ).increment(lines);
      context.getCounter(LookupCounter.ROWS_FOUND).increment(rows);
      context.getCounter(LookupCounter.BYTES_FOUND).increment(bytes);
    }
  }
}

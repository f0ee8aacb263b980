package org.assay.jobs.linesort;

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

/**
 * Sorts lines by their bytes, the only job of the sort of lines.
 *
 * <p>Each reducer gets a range of the lines, which {@link LineRanges} draws from the input, and the
 * ranges follow each other as the reducers do. Equal lines stay as many as they are.
 */
final class SortJob {
  private SortJob() {}

  static void configure(Job job, Path input, Path output) throws IOException, InterruptedException {
    job.setMapperClass(LineMapper.class);
    job.setPartitionerClass(LineRanges.class);
    job.setReducerClass(LineReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(NullWritable.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
    LineRanges.draw(job);
  }

  /** Sends each line as a key. */
  static final class LineMapper extends Mapper<LongWritable, Text, Text, NullWritable> {
    private long lines;

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      context.write(line, NullWritable.get());
      lines++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(LineSortCounter.LINES_READ).increment(lines);
    }
  }

  /** Writes a line as often as it came. */
  static final class LineReducer extends Reducer<Text, NullWritable, Text, NullWritable> {
    private long lines;

    @Override
    protected void reduce(Text line, Iterable<NullWritable> times, Context context)
        throws IOException, InterruptedException {
      for (NullWritable once : times) {
        context.write(line, once);
        lines++;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(LineSortCounter.LINES_WRITTEN).increment(lines);
    }
  }
}

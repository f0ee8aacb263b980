package org.assay.jobs.linesort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Gives each reducer a range of lines, in the order of their bytes.
 *
 * <p>The ranges' bounds are drawn before the job from the first lines of some of its splits, read
 * as its maps will read them, and go to the tasks in the job's configuration.
 */
final class LineRanges extends Partitioner<Text, NullWritable> implements Configurable {
  private static final String BOUNDS = "assay.sort.bounds";
  private static final int SPLITS = 10;
  private static final int LINES = 1000;

  /** What a bound has of a line at most; a line that only begins like it comes after it. */
  private static final int BOUND_BYTES = 64;

  private Configuration conf;
  private Text[] bounds = {};

  /** Draws the bounds for a job whose input, input format and reducers are set. */
  static void draw(Job job) throws IOException, InterruptedException {
    List<Text> lines = sample(job);
    Collections.sort(lines);
    int reducers = job.getNumReduceTasks();
    List<String> bounds = new ArrayList<>();
    for (int i = 1; i < reducers && !lines.isEmpty(); i++) {
      Text line = lines.get((int) ((long) i * lines.size() / reducers));
      byte[] bound = Arrays.copyOf(line.getBytes(), Math.min(line.getLength(), BOUND_BYTES));
      bounds.add(Base64.getEncoder().encodeToString(bound));
    }
    job.getConfiguration().setStrings(BOUNDS, bounds.toArray(new String[0]));
  }

  private static List<Text> sample(Job job) throws IOException, InterruptedException {
    Configuration conf = job.getConfiguration();
    InputFormat<LongWritable, Text> format = format(job);
    List<InputSplit> splits = format.getSplits(job);
    int some = Math.min(SPLITS, splits.size());
    List<Text> lines = new ArrayList<>();
    TaskAttemptContext task = new TaskAttemptContextImpl(conf, new TaskAttemptID());
    for (int i = 0; i < some; i++) {
      InputSplit split = splits.get((int) ((long) i * splits.size() / some));
      try (RecordReader<LongWritable, Text> reader = format.createRecordReader(split, task)) {
        reader.initialize(split, task);
        for (int left = LINES; left > 0 && reader.nextKeyValue(); left--) {
          lines.add(new Text(reader.getCurrentValue()));
        }
      }
    }
    return lines;
  }

  @SuppressWarnings("unchecked") // of lines, as the job's mapper takes them
  private static InputFormat<LongWritable, Text> format(Job job) throws IOException {
    try {
      return (InputFormat<LongWritable, Text>)
          ReflectionUtils.newInstance(job.getInputFormatClass(), job.getConfiguration());
    } catch (ClassNotFoundException e) {
      throw new IOException("the job's input format is not there", e);
    }
  }

  @Override
  public void setConf(Configuration given) {
    conf = given;
    bounds =
        Arrays.stream(given.getTrimmedStrings(BOUNDS))
            .map(bound -> new Text(Base64.getDecoder().decode(bound)))
            .toArray(Text[]::new);
  }

  @Override
  public Configuration getConf() {
    return conf;
  }

  @Override
  public int getPartition(Text line, NullWritable nothing, int partitions) {
    int at = Arrays.binarySearch(bounds, line);
    if (at < 0) {
      return -at - 1;
    }
    // Where bounds are equal, lines that are equal to them go after the last.
    while (at + 1 < bounds.length && bounds[at + 1].equals(line)) {
      at++;
    }
    return at + 1;
  }
}

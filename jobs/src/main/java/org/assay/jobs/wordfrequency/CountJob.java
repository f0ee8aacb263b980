package org.assay.jobs.wordfrequency;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.sums.SumCombiner;

/**
 * The counts of words, the only job of word frequency.
 *
 * <p>Reads lines of text. The map sends each word, as {@link WordScanner} finds it, with the number
 * one. Writes {@code word<TAB>count}. With the combiner the ones of a word are added up whenever a
 * map task spills, so that what is shipped depends on the vocabulary and hardly on the length of
 * the text. Source: the storage subsystem study, word frequency counter.
 */
final class CountJob {
  private CountJob() {}

  static void configure(Job job, boolean combines, Path input, Path output) throws IOException {
    job.setMapperClass(WordMapper.class);
    if (combines) {
      job.setCombinerClass(SumCombiner.class);
    }
    job.setReducerClass(SumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(VLongWritable.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each word of a line with the number one. */
  static final class WordMapper extends Mapper<LongWritable, Text, Text, VLongWritable> {
    private final WordScanner scanner = new WordScanner();
    private final VLongWritable one = new VLongWritable(1);
    private long words;

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      while (scanner.next()) {
        context.write(scanner.word(), one);
        words++;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(WordFrequencyCounter.WORDS).increment(words);
    }
  }

  /** Writes the total of a word. */
  static final class SumReducer extends Reducer<Text, VLongWritable, Text, VLongWritable> {
    private final VLongWritable total = new VLongWritable();
    private long distinct;

    @Override
    protected void reduce(Text word, Iterable<VLongWritable> counts, Context context)
        throws IOException, InterruptedException {
      total.set(SumCombiner.sum(counts));
      context.write(word, total);
      distinct++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(WordFrequencyCounter.DISTINCT_WORDS).increment(distinct);
    }
  }
}

package org.assay.rows;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * Lines {@code key<TAB>value} in a table or in text files, as a job's output path names one or the
 * other.
 */
public abstract class RowOutputFormat<K, V> extends OutputFormat<K, V> {
  private final RowStore<?> store;
  private OutputFormat<K, V> format;

  protected RowOutputFormat(RowStore<?> store) {
    this.store = store;
  }

  /** The output in a table. */
  protected TableOutput<K, V> output(Configuration conf, String table) {
    return new TableOutput<>(store, table);
  }

  private OutputFormat<K, V> format(JobContext job) {
    if (format == null) {
      Path path = FileOutputFormat.getOutputPath(job);
      boolean toTable = path != null && store.scheme().equals(path.toUri().getScheme());
      format =
          toTable ? output(job.getConfiguration(), RowTables.at(path)) : new TextOutputFormat<>();
    }
    return format;
  }

  @Override
  public void checkOutputSpecs(JobContext job) throws IOException, InterruptedException {
    format(job).checkOutputSpecs(job);
  }

  @Override
  public RecordWriter<K, V> getRecordWriter(TaskAttemptContext task)
      throws IOException, InterruptedException {
    return format(task).getRecordWriter(task);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext task)
      throws IOException, InterruptedException {
    return format(task).getOutputCommitter(task);
  }
}

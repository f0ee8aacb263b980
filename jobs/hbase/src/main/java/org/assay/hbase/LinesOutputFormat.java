package org.assay.hbase;

import java.io.IOException;
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
public final class LinesOutputFormat<K, V> extends OutputFormat<K, V> {
  private OutputFormat<K, V> format;

  private OutputFormat<K, V> format(JobContext job) {
    if (format == null) {
      Path path = FileOutputFormat.getOutputPath(job);
      boolean toTable = path != null && TableFileSystem.isTable(path);
      format = toTable ? new TableOutput<>(Tables.at(path)) : new TextOutputFormat<>();
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

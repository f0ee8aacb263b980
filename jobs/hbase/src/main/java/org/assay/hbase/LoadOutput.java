package org.assay.hbase;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.assay.rows.TableOutput;

/**
 * A job's output in HFiles of a new table. A task that runs twice at once writes a file for each,
 * of which one is committed.
 */
final class LoadOutput<K, V> extends TableOutput<K, V> {
  private final TableName table;

  LoadOutput(String table) {
    super(HbaseStore.INSTANCE, table);
    this.table = TableName.valueOf(table);
  }

  @Override
  public void checkOutputSpecs(JobContext job) throws IOException {
    makeReady(job);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext task) throws IOException {
    return committer(task);
  }

  private LoadCommitter committer(TaskAttemptContext task) throws IOException {
    Configuration conf = HBaseConfiguration.create(task.getConfiguration());
    return new LoadCommitter(table, Load.ofOutput(conf, table), task);
  }

  @Override
  public RecordWriter<K, V> getRecordWriter(TaskAttemptContext task) throws IOException {
    Path work = committer(task).getWorkPath();
    String name = "part-" + task.getTaskAttemptID().getTaskID().getId();
    return new LineRecords<>(
        new FileWriter(task.getConfiguration(), table, work, name, keys(task), 0), () -> {});
  }

  /** Of HFiles, which the table adopts when all tasks have ended. */
  private static final class LoadCommitter extends FileOutputCommitter {
    private final TableName table;
    private final Path loaded;
    private volatile boolean committed;

    LoadCommitter(TableName table, Path loaded, TaskAttemptContext task) throws IOException {
      super(loaded, task);
      this.table = table;
      this.loaded = loaded;
    }

    @Override
    public void setupJob(JobContext job) throws IOException {
      try (Tables tables = new Tables(job.getConfiguration())) {
        tables.create(table.getNameAsString());
        Load.prepare(tables, loaded);
      }
      super.setupJob(job);
    }

    @Override
    public void commitJob(JobContext job) throws IOException {
      super.commitJob(job);
      try (Tables tables = new Tables(job.getConfiguration())) {
        Load.finish(tables, table, loaded);
        tables.settle(table.getNameAsString());
      }
      committed = true;
    }

    @Override
    public void abortJob(JobContext job, org.apache.hadoop.mapreduce.JobStatus.State state)
        throws IOException {
      super.abortJob(job, state);
      if (!committed) {
        abandon(HbaseStore.INSTANCE, job, table.getNameAsString());
      }
    }
  }
}

package org.assay.hbase;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.io.BinaryComparable;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/**
 * A job's output in a new table, with its lines whole. Each task writes into one region, in its
 * order.
 */
final class TableOutput<K, V> extends OutputFormat<K, V> {
  private final TableName table;

  TableOutput(TableName table) {
    this.table = table;
  }

  @Override
  public void checkOutputSpecs(JobContext job) throws IOException {
    try (Tables tables = new Tables(job.getConfiguration())) {
      if (tables.exists(table)) {
        throw new FileAlreadyExistsException("table " + table + " already exists");
      }
      JobAccess.give(job, tables.connection());
      Load.discard(tables.conf(), loaded(tables.conf())); // what a killed job left
      if (tables.settings().load() == TableSettings.Load.PUTS) {
        forbidTwins(job);
      }
    }
  }

  /** Has no task that writes run twice at once: both would put rows under the same keys. */
  static void forbidTwins(JobContext job) {
    boolean mapsWrite = job.getNumReduceTasks() == 0;
    job.getConfiguration()
        .setBoolean(
            mapsWrite ? MRJobConfig.MAP_SPECULATIVE : MRJobConfig.REDUCE_SPECULATIVE, false);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext task) throws IOException {
    Configuration conf = HBaseConfiguration.create(task.getConfiguration());
    boolean bulk = new TableSettings(conf).load() == TableSettings.Load.BULK;
    return bulk ? new LoadCommitter(table, loaded(conf), task) : new PutCommitter(table);
  }

  /** Of the table alone: a job's tasks and its committer may know the job by different ids. */
  private Path loaded(Configuration conf) throws IOException {
    return Tables.directory(conf, table, "output");
  }

  @Override
  public RecordWriter<K, V> getRecordWriter(TaskAttemptContext task) throws IOException {
    Configuration conf = task.getConfiguration();
    int number = task.getTaskAttemptID().getTaskID().getId();
    boolean isMap = task.getTaskAttemptID().getTaskID().getTaskType() == TaskType.MAP;
    int tasks = isMap ? conf.getInt(MRJobConfig.NUM_MAPS, 1) : task.getNumReduceTasks();
    RowKeys keys = new RowKeys(number, number, Math.max(tasks, number + 1));
    OutputCommitter committer = getOutputCommitter(task);
    if (committer instanceof FileOutputCommitter) {
      Path work = ((FileOutputCommitter) committer).getWorkPath();
      LineWriter writer = new FileWriter(conf, table, work, "part-" + number, keys, 0);
      return new LineRecords<>(writer, () -> {});
    }
    Tables tables = new Tables(conf);
    if (task.getTaskAttemptID().getId() > 0) {
      tables.empty(table, keys); // an earlier attempt may have put others, or more
    }
    LineWriter writer = new PutWriter(tables.connection().getBufferedMutator(table), keys, 0);
    return new LineRecords<>(writer, tables);
  }

  /** Makes the table before the tasks, and brings all into its files after them. */
  private static void begin(JobContext job, TableName table, Path loaded) throws IOException {
    try (Tables tables = new Tables(job.getConfiguration())) {
      tables.create(table);
      if (loaded != null) {
        Load.prepare(tables, loaded);
      }
    }
  }

  private static void end(JobContext job, TableName table, Path loaded) throws IOException {
    try (Tables tables = new Tables(job.getConfiguration())) {
      if (loaded != null) {
        Load.finish(tables, table, loaded);
      }
      tables.settle(table);
    }
  }

  private static void abandon(JobContext job, TableName table) throws IOException {
    try (Tables tables = new Tables(job.getConfiguration())) {
      if (tables.exists(table)) {
        tables.drop(table);
      }
    }
  }

  /** Of rows that are in the table as soon as they are put. */
  private static final class PutCommitter extends OutputCommitter {
    private final TableName table;

    /** A job's master that is told to end calls for an abort also when the job has succeeded. */
    private volatile boolean committed;

    PutCommitter(TableName table) {
      this.table = table;
    }

    @Override
    public void setupJob(JobContext job) throws IOException {
      begin(job, table, null);
    }

    @Override
    public void commitJob(JobContext job) throws IOException {
      end(job, table, null);
      committed = true;
    }

    @Override
    public void abortJob(JobContext job, org.apache.hadoop.mapreduce.JobStatus.State state)
        throws IOException {
      if (!committed) {
        abandon(job, table);
      }
    }

    @Override
    public void setupTask(TaskAttemptContext task) {}

    @Override
    public boolean needsTaskCommit(TaskAttemptContext task) {
      return false;
    }

    @Override
    public void commitTask(TaskAttemptContext task) {}

    /** The rows stay until the next attempt, which removes them. */
    @Override
    public void abortTask(TaskAttemptContext task) {}
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
      begin(job, table, loaded);
      super.setupJob(job);
    }

    @Override
    public void commitJob(JobContext job) throws IOException {
      super.commitJob(job);
      end(job, table, loaded);
      committed = true;
    }

    @Override
    public void abortJob(JobContext job, org.apache.hadoop.mapreduce.JobStatus.State state)
        throws IOException {
      super.abortJob(job, state);
      if (!committed) {
        abandon(job, table);
      }
    }
  }

  /** Writes records as TextOutputFormat does, without the line's end. */
  static final class LineRecords<K, V> extends RecordWriter<K, V> {
    private final DataOutputBuffer line = new DataOutputBuffer();
    private final LineWriter writer;
    private final Closeable end;

    /** Closes the writer when it is closed, and {@code end} last. */
    LineRecords(LineWriter writer, Closeable end) {
      this.writer = writer;
      this.end = end;
    }

    @Override
    public void write(K key, V value) throws IOException {
      boolean hasKey = key != null && !(key instanceof NullWritable);
      boolean hasValue = value != null && !(value instanceof NullWritable);
      if (!hasKey && !hasValue) {
        return;
      }
      line.reset();
      if (hasKey) {
        append(key);
      }
      if (hasKey && hasValue) {
        line.write('\t');
      }
      if (hasValue) {
        append(value);
      }
      writer.write(line.getData(), 0, line.getLength());
    }

    private void append(Object part) throws IOException {
      if (part instanceof Text) {
        BinaryComparable text = (Text) part;
        line.write(text.getBytes(), 0, text.getLength());
      } else {
        line.write(part.toString().getBytes(StandardCharsets.UTF_8));
      }
    }

    @Override
    public void close(TaskAttemptContext task) throws IOException {
      writer.close();
      end.close();
    }
  }
}

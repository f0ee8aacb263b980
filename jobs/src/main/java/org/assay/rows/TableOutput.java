package org.assay.rows;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
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

/**
 * A job's output in a new table, with its lines whole, which tasks put. Each task writes into one
 * region, in its order.
 */
public class TableOutput<K, V> extends OutputFormat<K, V> {
  private final RowStore<?> store;
  private final String table;

  protected TableOutput(RowStore<?> store, String table) {
    this.store = store;
    this.table = table;
  }

  @Override
  public void checkOutputSpecs(JobContext job) throws IOException {
    makeReady(job);
    forbidTwins(job);
  }

  /** Refuses a table that is there, and gives the job what it needs to reach a new one. */
  protected final void makeReady(JobContext job) throws IOException {
    try (RowTables<?> tables = store.connect(job.getConfiguration())) {
      if (tables.exists(table)) {
        throw new FileAlreadyExistsException("table " + table + " already exists");
      }
      tables.give(job);
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
    return new PutCommitter(store, table);
  }

  @Override
  public RecordWriter<K, V> getRecordWriter(TaskAttemptContext task) throws IOException {
    RowKeys keys = keys(task);
    RowTables<?> tables = store.connect(task.getConfiguration());
    if (task.getTaskAttemptID().getId() > 0) {
      tables.empty(table, keys); // an earlier attempt may have put others, or more
    }
    return new LineRecords<>(tables.writer(table, keys, 0), tables);
  }

  /** The keys of the rows that a task writes, whichever attempt it is. */
  protected static RowKeys keys(TaskAttemptContext task) {
    Configuration conf = task.getConfiguration();
    int number = task.getTaskAttemptID().getTaskID().getId();
    boolean isMap = task.getTaskAttemptID().getTaskID().getTaskType() == TaskType.MAP;
    int tasks = isMap ? conf.getInt(MRJobConfig.NUM_MAPS, 1) : task.getNumReduceTasks();
    return new RowKeys(number, number, Math.max(tasks, number + 1));
  }

  /** Removes the table that a failed job has made. */
  protected static void abandon(RowStore<?> store, JobContext job, String table)
      throws IOException {
    try (RowTables<?> tables = store.connect(job.getConfiguration())) {
      if (tables.exists(table)) {
        tables.drop(table);
      }
    }
  }

  /** Of rows that are in the table as soon as they are put. */
  private static final class PutCommitter extends OutputCommitter {
    private final RowStore<?> store;
    private final String table;

    /** A job's master that is told to end calls for an abort also when the job has succeeded. */
    private volatile boolean committed;

    PutCommitter(RowStore<?> store, String table) {
      this.store = store;
      this.table = table;
    }

    @Override
    public void setupJob(JobContext job) throws IOException {
      try (RowTables<?> tables = store.connect(job.getConfiguration())) {
        tables.create(table);
      }
    }

    @Override
    public void commitJob(JobContext job) throws IOException {
      try (RowTables<?> tables = store.connect(job.getConfiguration())) {
        tables.settle(table);
      }
      committed = true;
    }

    @Override
    public void abortJob(JobContext job, org.apache.hadoop.mapreduce.JobStatus.State state)
        throws IOException {
      if (!committed) {
        abandon(store, job, table);
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

  /** Writes records as TextOutputFormat does, without the line's end. */
  public static final class LineRecords<K, V> extends RecordWriter<K, V> {
    private final DataOutputBuffer line = new DataOutputBuffer();
    private final LineWriter writer;
    private final Closeable end;

    /** Closes the writer when it is closed, and {@code end} last. */
    public LineRecords(LineWriter writer, Closeable end) {
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

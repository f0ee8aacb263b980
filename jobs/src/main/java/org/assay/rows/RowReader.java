package org.assay.rows;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The lines of a split, by scans of the servers or of files of the store; rows alone by gets. Where
 * each get is a call of its own, its time is counted from the call until the row is here ({@link
 * GetTimes}); a connection is made before.
 */
final class RowReader extends RecordReader<LongWritable, Text> {
  /** How many rows a job gets by one call, if it does not say that. */
  static final String GETS_AT_ONCE = "assay.input.rows.at-once";

  static final int GETS = 500;

  private final RowStore<?> store;
  private final LongWritable number = new LongWritable(-1);
  private final Text line = new Text();
  private final Deque<RowSplit.Part> parts = new ArrayDeque<>();
  private TaskAttemptContext task;
  private Configuration conf;
  private int gets;
  private RowSplit split;
  private RowSource servers;
  private Rows rows;

  RowReader(RowStore<?> store) {
    this.store = store;
  }

  @Override
  public void initialize(InputSplit given, TaskAttemptContext of) {
    split = (RowSplit) given;
    parts.addAll(split.parts());
    task = of;
    conf = task.getConfiguration();
    gets = Math.max(1, conf.getInt(GETS_AT_ONCE, GETS));
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    boolean found = rows != null && rows.next(line);
    while (!found) {
      endPart();
      if (parts.isEmpty()) {
        return false;
      }
      found = parts.element().isRow() ? foundByGets() : foundByScan();
    }
    number.set(number.get() + 1);
    return true;
  }

  private boolean foundByScan() throws IOException {
    rows = scanned(parts.remove());
    return rows.next(line);
  }

  /** A store may wait for a row when it is asked for it, or when the row is taken. */
  private boolean foundByGets() throws IOException {
    servers();
    long beganNs = System.nanoTime();
    rows = got();
    boolean found = rows.next(line);
    if (gets == 1) {
      String bucket = GetTimes.bucket(System.nanoTime() - beganNs);
      task.getCounter(GetTimes.GROUP, bucket).increment(1);
    }
    return found;
  }

  /** The rows alone that come next, in their order, by one call. */
  private Rows got() throws IOException {
    List<byte[]> keys = new ArrayList<>();
    while (keys.size() < gets && !parts.isEmpty() && parts.element().isRow()) {
      keys.add(parts.remove().start);
    }
    return servers().get(split.table(), keys, split.rest());
  }

  private Rows scanned(RowSplit.Part part) throws IOException {
    return part.files.length == 0
        ? servers().scan(split.table(), part.start, part.stop, split.rest())
        : store.files(conf, part.files, split.rest());
  }

  private RowSource servers() throws IOException {
    if (servers == null) {
      servers = store.shared(conf);
    }
    return servers;
  }

  @Override
  public LongWritable getCurrentKey() {
    return number;
  }

  @Override
  public Text getCurrentValue() {
    return line;
  }

  @Override
  public float getProgress() {
    return Math.min(1f, (number.get() + 1f) / Math.max(1, split.rows()));
  }

  private void endPart() throws IOException {
    if (rows != null) {
      rows.close();
      rows = null;
    }
  }

  @Override
  public void close() throws IOException {
    endPart();
  }
}

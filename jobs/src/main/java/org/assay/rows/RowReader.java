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

/** The lines of a split, by scans of the servers or of files of the store; rows alone by gets. */
final class RowReader extends RecordReader<LongWritable, Text> {
  /** How many gets go to the servers together. */
  static final int GETS = 500;

  private final RowStore<?> store;
  private final LongWritable number = new LongWritable(-1);
  private final Text line = new Text();
  private final Deque<RowSplit.Part> parts = new ArrayDeque<>();
  private Configuration conf;
  private RowSplit split;
  private RowSource servers;
  private Rows rows;

  RowReader(RowStore<?> store) {
    this.store = store;
  }

  @Override
  public void initialize(InputSplit given, TaskAttemptContext task) {
    split = (RowSplit) given;
    parts.addAll(split.parts());
    conf = task.getConfiguration();
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    while (rows == null || !rows.next(line)) {
      endPart();
      if (parts.isEmpty()) {
        return false;
      }
      rows = parts.element().isRow() ? got() : scanned(parts.remove());
    }
    number.set(number.get() + 1);
    return true;
  }

  /** The rows alone that come next, in their order, by one call. */
  private Rows got() throws IOException {
    List<byte[]> keys = new ArrayList<>();
    while (keys.size() < GETS && !parts.isEmpty() && parts.element().isRow()) {
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

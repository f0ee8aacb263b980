package org.assay.jobs.degreeorder;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/**
 * A list of vertex numbers and one number that goes with it. Mutable, to be reused from record to
 * record.
 */
public final class HeadedList implements Writable {
  private final PackedIds ids = new PackedIds();
  private long head;

  /** Replaces the number that goes with the list. */
  public void setHead(long head) {
    this.head = head;
  }

  public long head() {
    return head;
  }

  /** The list itself, to be read and changed. */
  public PackedIds ids() {
    return ids;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVLong(out, head);
    ids.write(out);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    head = WritableUtils.readVLong(in);
    ids.readFields(in);
  }
}

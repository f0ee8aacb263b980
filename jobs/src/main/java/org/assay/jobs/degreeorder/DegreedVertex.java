package org.assay.jobs.degreeorder;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/** A vertex and its degree, as a value. Mutable, to be reused from record to record. */
public final class DegreedVertex implements Writable {
  private long vertex;
  private int degree;

  void set(long vertex, int degree) {
    this.vertex = vertex;
    this.degree = degree;
  }

  long vertex() {
    return vertex;
  }

  int degree() {
    return degree;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVLong(out, vertex);
    WritableUtils.writeVInt(out, degree);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    vertex = WritableUtils.readVLong(in);
    degree = WritableUtils.readVInt(in);
  }
}

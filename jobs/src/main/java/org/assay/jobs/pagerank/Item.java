package org.assay.jobs.pagerank;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;

/** A shuffle value: one number about a vertex, and what it is. Serialized as 1 byte and 8. */
final class Item implements Writable {
  private static final byte RANK = 0;
  private static final byte SHARE = 1;
  private static final byte TARGET = 2;
  private static final byte EXISTS = 3;

  private byte kind;
  private long bits;

  /** The vertex's own rank. */
  void setRank(double rank) {
    kind = RANK;
    bits = Double.doubleToLongBits(rank);
  }

  /** A share of the rank of another vertex. */
  void setShare(double share) {
    kind = SHARE;
    bits = Double.doubleToLongBits(share);
  }

  /** The end of an edge that leaves the vertex. */
  void setTarget(long target) {
    kind = TARGET;
    bits = target;
  }

  /** That there is such a vertex. */
  void setExists() {
    kind = EXISTS;
    bits = 0;
  }

  boolean isRank() {
    return kind == RANK;
  }

  boolean isTarget() {
    return kind == TARGET;
  }

  /** The rank, or the share. */
  double number() {
    return Double.longBitsToDouble(bits);
  }

  long target() {
    return bits;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeByte(kind);
    out.writeLong(bits);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    kind = in.readByte();
    bits = in.readLong();
  }
}

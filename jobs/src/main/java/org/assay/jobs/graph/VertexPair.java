package org.assay.jobs.graph;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;

/**
 * Two vertices as a shuffle key, ordered by the first and then the second. Serialized as 16 bytes,
 * compared without being deserialized, and hashed so that reducers are balanced. Mutable, to be
 * reused from record to record.
 */
public final class VertexPair implements WritableComparable<VertexPair> {
  static {
    WritableComparator.define(VertexPair.class, new RawOrder());
  }

  private long first;
  private long second;

  /** Replaces the content. */
  public void set(long first, long second) {
    this.first = first;
    this.second = second;
  }

  public long first() {
    return first;
  }

  public long second() {
    return second;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeLong(first);
    out.writeLong(second);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    first = in.readLong();
    second = in.readLong();
  }

  @Override
  public int compareTo(VertexPair other) {
    int order = Long.compare(first, other.first);
    if (order == 0) {
      order = Long.compare(second, other.second);
    }
    return order;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VertexPair
        && ((VertexPair) other).first == first
        && ((VertexPair) other).second == second;
  }

  @Override
  public int hashCode() {
    return (int) VertexBytes.mix(VertexBytes.mix(0, first), second);
  }

  @Override
  public String toString() {
    return first + " " + second;
  }

  /** Numeric order on the serialized form; vertex numbers are never negative. */
  private static final class RawOrder extends WritableComparator {
    private RawOrder() {
      super(VertexPair.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return VertexBytes.compare(left, leftStart, right, rightStart, 2);
    }
  }
}

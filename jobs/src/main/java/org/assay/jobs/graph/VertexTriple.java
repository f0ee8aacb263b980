package org.assay.jobs.graph;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;

/**
 * A pair of vertices and a candidate as a shuffle key, ordered by pair and then candidate.
 * Serialized as 24 bytes, compared without being deserialized, and hashed so that reducers are
 * balanced. Mutable, to be reused from record to record.
 */
public final class VertexTriple implements WritableComparable<VertexTriple> {
  static {
    WritableComparator.define(VertexTriple.class, new RawOrder());
  }

  private long first;
  private long second;
  private long candidate;

  /** Replaces the content. */
  public void set(long first, long second, long candidate) {
    this.first = first;
    this.second = second;
    this.candidate = candidate;
  }

  public long first() {
    return first;
  }

  public long second() {
    return second;
  }

  public long candidate() {
    return candidate;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeLong(first);
    out.writeLong(second);
    out.writeLong(candidate);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    first = in.readLong();
    second = in.readLong();
    candidate = in.readLong();
  }

  @Override
  public int compareTo(VertexTriple other) {
    int order = Long.compare(first, other.first);
    if (order == 0) {
      order = Long.compare(second, other.second);
    }
    if (order == 0) {
      order = Long.compare(candidate, other.candidate);
    }
    return order;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VertexTriple
        && ((VertexTriple) other).first == first
        && ((VertexTriple) other).second == second
        && ((VertexTriple) other).candidate == candidate;
  }

  @Override
  public int hashCode() {
    return (int) VertexBytes.mix(VertexBytes.mix(VertexBytes.mix(0, first), second), candidate);
  }

  @Override
  public String toString() {
    return first + " " + second + " " + candidate;
  }

  /** Numeric order on the serialized form; vertex numbers are never negative. */
  private static final class RawOrder extends WritableComparator {
    private RawOrder() {
      super(VertexTriple.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return VertexBytes.compare(left, leftStart, right, rightStart, 3);
    }
  }
}

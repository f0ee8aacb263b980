package org.assay.jobs.graph;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;

/**
 * A vertex number from 0 to 2^63-1 as a shuffle key. Serialized as 8 bytes, compared without being
 * deserialized, and hashed so that reducers are balanced. Mutable, to be reused from record to
 * record.
 */
public final class VertexId implements WritableComparable<VertexId> {
  static {
    WritableComparator.define(VertexId.class, new RawOrder());
  }

  private long vertex;

  /** Replaces the content. */
  public void set(long vertex) {
    this.vertex = vertex;
  }

  public long vertex() {
    return vertex;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeLong(vertex);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    vertex = in.readLong();
  }

  @Override
  public int compareTo(VertexId other) {
    return Long.compare(vertex, other.vertex);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VertexId && ((VertexId) other).vertex == vertex;
  }

  @Override
  public int hashCode() {
    return (int) VertexBytes.mix(0, vertex);
  }

  @Override
  public String toString() {
    return Long.toString(vertex);
  }

  /** Numeric order on the serialized form; vertex numbers are never negative. */
  private static final class RawOrder extends WritableComparator {
    private RawOrder() {
      super(VertexId.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return VertexBytes.compare(left, leftStart, right, rightStart, 1);
    }
  }
}

package org.assay.jobs.degreeorder;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.assay.jobs.graph.VertexId;

/**
 * The vertex that a list is sent to, as a shuffle key; of all lists for a vertex its own comes
 * first. Serialized as 9 bytes, compared without being deserialized, and hashed by the vertex
 * alone. Mutable, to be reused from record to record.
 */
final class Addressed implements WritableComparable<Addressed> {
  static {
    WritableComparator.define(Addressed.class, new RawOrder());
  }

  private final VertexId to = new VertexId();
  private boolean own;

  void set(long vertex, boolean own) {
    to.set(vertex);
    this.own = own;
  }

  long vertex() {
    return to.vertex();
  }

  boolean isOwn() {
    return own;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    to.write(out);
    out.writeByte(own ? 0 : 1);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    to.readFields(in);
    own = in.readByte() == 0;
  }

  @Override
  public int compareTo(Addressed other) {
    int order = to.compareTo(other.to);
    return order != 0 ? order : Boolean.compare(other.own, own);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Addressed && compareTo((Addressed) other) == 0;
  }

  @Override
  public int hashCode() {
    return to.hashCode();
  }

  @Override
  public String toString() {
    return to + (own ? " own" : "");
  }

  /** By the vertex, its own list first. */
  private static final class RawOrder extends WritableComparator {
    private RawOrder() {
      super(Addressed.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return compareBytes(left, leftStart, leftLength, right, rightStart, rightLength);
    }
  }

  /** By the vertex alone, so that one reduce call gets all lists for it. */
  static final class ByVertex extends WritableComparator {
    ByVertex() {
      super(Addressed.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return compareBytes(left, leftStart, Long.BYTES, right, rightStart, Long.BYTES);
    }
  }
}

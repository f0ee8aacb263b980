package org.assay.jobs.components;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.assay.jobs.graph.IdList;

/**
 * A shuffle value: either a vertex with its minimum, flag and neighbours, or a message with a
 * minimum only. Serialized as one byte for the kind, 8 for the minimum, and for a vertex 4 for the
 * number of neighbours and 8 for each of them. A vertex without neighbours is not a message.
 */
final class VertexState implements Writable {
  private static final byte MESSAGE = 0;
  private static final byte INACTIVE = 1;
  private static final byte ACTIVE = 2;

  private final IdList neighbours = new IdList();
  private byte kind = MESSAGE;
  private long minimum;

  boolean isMessage() {
    return kind == MESSAGE;
  }

  boolean isActive() {
    return kind == ACTIVE;
  }

  long minimum() {
    return minimum;
  }

  /** The neighbours; of a message what was left there, not to be used. */
  IdList neighbours() {
    return neighbours;
  }

  /** Becomes a message. */
  void setMessage(long newMinimum) {
    kind = MESSAGE;
    minimum = newMinimum;
  }

  /** Becomes a vertex with the neighbours that the list holds. */
  void setVertex(long newMinimum, boolean active) {
    kind = active ? ACTIVE : INACTIVE;
    minimum = newMinimum;
  }

  /** Becomes a copy of another vertex. */
  void copyFrom(VertexState other) {
    kind = other.kind;
    minimum = other.minimum;
    neighbours.copyFrom(other.neighbours);
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeByte(kind);
    out.writeLong(minimum);
    if (!isMessage()) {
      out.writeInt(neighbours.size());
      for (int i = 0; i < neighbours.size(); i++) {
        out.writeLong(neighbours.get(i));
      }
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    kind = in.readByte();
    minimum = in.readLong();
    neighbours.clear();
    if (!isMessage()) {
      int size = in.readInt();
      for (int i = 0; i < size; i++) {
        neighbours.add(in.readLong());
      }
    }
  }
}

package org.assay.jobs.vertex;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.assay.jobs.graph.IdList;

/**
 * A shuffle value: either a vertex with its value, flag and neighbours, or a message with a value
 * only. Serialized as one byte for the kind, 8 for the value, and for a vertex 4 for the number of
 * neighbours and 8 for each of them. A vertex without neighbours is not a message.
 */
public final class VertexState implements Writable {
  private static final byte MESSAGE = 0;
  private static final byte INACTIVE = 1;
  private static final byte ACTIVE = 2;

  private final IdList neighbours = new IdList();
  private byte kind = MESSAGE;
  private long value;

  public boolean isMessage() {
    return kind == MESSAGE;
  }

  public boolean isActive() {
    return kind == ACTIVE;
  }

  public long value() {
    return value;
  }

  /** The neighbours; of a message what was left there, not to be used. */
  public IdList neighbours() {
    return neighbours;
  }

  /** Becomes a message. */
  public void setMessage(long newValue) {
    kind = MESSAGE;
    value = newValue;
  }

  /** Becomes a vertex with the neighbours that the list holds. */
  public void setVertex(long newValue, boolean active) {
    kind = active ? ACTIVE : INACTIVE;
    value = newValue;
  }

  /** Becomes a copy of another vertex. */
  public void copyFrom(VertexState other) {
    kind = other.kind;
    value = other.value;
    neighbours.copyFrom(other.neighbours);
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeByte(kind);
    out.writeLong(value);
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
    value = in.readLong();
    neighbours.clear();
    if (!isMessage()) {
      int size = in.readInt();
      for (int i = 0; i < size; i++) {
        neighbours.add(in.readLong());
      }
    }
  }
}

package org.assay.jobs.cores;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.assay.jobs.graph.IdList;

/**
 * A shuffle value: either a vertex with its estimate, flag, neighbours and what it knows of their
 * estimates, or a message with a sender and its estimate. Serialized as one byte for the kind, the
 * estimate in 1 to 9 bytes, 8 for the sender, or 1 to 9 for the number of neighbours and 8 and 1 to
 * 9 for each of them.
 */
final class CoreState implements Writable {
  /** What is known of a neighbour that has sent nothing yet; its estimate is at least 1. */
  static final long UNKNOWN = 0;

  private static final byte MESSAGE = 0;
  private static final byte INACTIVE = 1;
  private static final byte ACTIVE = 2;

  private final IdList neighbours = new IdList();
  private final IdList known = new IdList();
  private byte kind = MESSAGE;
  private long estimate;
  private long sender;

  boolean isMessage() {
    return kind == MESSAGE;
  }

  boolean isActive() {
    return kind == ACTIVE;
  }

  /** The estimate of the vertex, or of the sender. */
  long estimate() {
    return estimate;
  }

  /** Of a message. */
  long sender() {
    return sender;
  }

  /** The neighbours of a vertex, ascending. */
  IdList neighbours() {
    return neighbours;
  }

  /** The neighbours' estimates in the order of the neighbours. */
  IdList known() {
    return known;
  }

  void setMessage(long newSender, long newEstimate) {
    kind = MESSAGE;
    sender = newSender;
    estimate = newEstimate;
  }

  /** Becomes a vertex with the neighbours and estimates that the lists hold. */
  void setVertex(long newEstimate, boolean active) {
    kind = active ? ACTIVE : INACTIVE;
    estimate = newEstimate;
  }

  /** Becomes a copy of another vertex. */
  void copyFrom(CoreState other) {
    kind = other.kind;
    estimate = other.estimate;
    neighbours.copyFrom(other.neighbours);
    known.copyFrom(other.known);
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeByte(kind);
    WritableUtils.writeVLong(out, estimate);
    if (isMessage()) {
      out.writeLong(sender);
      return;
    }
    WritableUtils.writeVInt(out, neighbours.size());
    for (int i = 0; i < neighbours.size(); i++) {
      out.writeLong(neighbours.get(i));
      WritableUtils.writeVLong(out, known.get(i));
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    kind = in.readByte();
    estimate = WritableUtils.readVLong(in);
    neighbours.clear();
    known.clear();
    if (isMessage()) {
      sender = in.readLong();
      return;
    }
    int size = WritableUtils.readVInt(in);
    for (int i = 0; i < size; i++) {
      neighbours.add(in.readLong());
      known.add(WritableUtils.readVLong(in));
    }
  }
}

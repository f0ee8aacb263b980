package org.assay.jobs.pagerank;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.assay.jobs.graph.IdList;

/**
 * A vertex with its rank and targets, or a share for a vertex. Serialized as 1 byte for the kind
 * and 8 for the rank or share, and for a vertex 4 for the number of targets and 8 for each of them.
 */
final class RankedVertex implements Writable {
  private final IdList targets = new IdList();
  private boolean vertex;
  private double number;

  boolean isVertex() {
    return vertex;
  }

  /** The rank of a vertex, or the share. */
  double number() {
    return number;
  }

  /** The targets of a vertex, each once. */
  IdList targets() {
    return targets;
  }

  /** Becomes a vertex with the targets that the list holds. */
  void setVertex(double rank) {
    vertex = true;
    number = rank;
  }

  void setShare(double share) {
    vertex = false;
    number = share;
  }

  void copyFrom(RankedVertex other) {
    vertex = other.vertex;
    number = other.number;
    targets.copyFrom(other.targets);
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeBoolean(vertex);
    out.writeDouble(number);
    if (vertex) {
      out.writeInt(targets.size());
      for (int i = 0; i < targets.size(); i++) {
        out.writeLong(targets.get(i));
      }
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    vertex = in.readBoolean();
    number = in.readDouble();
    targets.clear();
    if (vertex) {
      int size = in.readInt();
      for (int i = 0; i < size; i++) {
        targets.add(in.readLong());
      }
    }
  }
}

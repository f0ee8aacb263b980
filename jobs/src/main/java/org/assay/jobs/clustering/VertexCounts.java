package org.assay.jobs.clustering;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/**
 * A vertex' degree and triangles, or a part of them: parts add up. Mutable, to be reused from
 * record to record.
 */
final class VertexCounts implements Writable {
  private long degree;
  private long triangles;

  void set(long degree, long triangles) {
    this.degree = degree;
    this.triangles = triangles;
  }

  /** Makes this the sum of parts. */
  void setSum(Iterable<VertexCounts> parts) {
    set(0, 0);
    for (VertexCounts part : parts) {
      degree += part.degree;
      triangles += part.triangles;
    }
  }

  long degree() {
    return degree;
  }

  long triangles() {
    return triangles;
  }

  /** Pairs of edges that meet at the vertex. */
  long wedges() {
    return degree * (degree - 1) / 2;
  }

  /** The part of those pairs that are closed, 0 if there are none. */
  double coefficient() {
    long wedges = wedges();
    return wedges == 0 ? 0.0 : (double) triangles / wedges;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVLong(out, degree);
    WritableUtils.writeVLong(out, triangles);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    degree = WritableUtils.readVLong(in);
    triangles = WritableUtils.readVLong(in);
  }
}

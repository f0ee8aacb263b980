package org.assay.jobs.kmeans;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.assay.jobs.sums.CompensatedSum;

/**
 * One point, or the sum of several: a shuffle value of k-means.
 *
 * <p>Sums are compensated (Neumaier 1974): beside each sum stands what its roundings have lost, and
 * travels with it. So the mean is right to the last digit or so, in whatever order and groups the
 * points arrive. The sum of the magnitudes tells to what the error is relative.
 *
 * <p>Serialized as the number of points and of coordinates, one byte each while they are small, and
 * 8 bytes per coordinate of a point, 24 per coordinate of a sum.
 */
public final class PointSum implements Writable, Serializable {
  /**
   * A centre moves when a coordinate changes by more than this share of the mean magnitude of its
   * points' coordinate: far above what roundings change, far below what one point changes.
   */
  private static final double STILL = 1e-12;

  private long count;
  private int dimensions;
  private double[] sums = new double[0];
  private double[] lost = new double[0];
  private double[] magnitudes = new double[0];

  /** Becomes one point. */
  public void setPoint(double[] coordinates, int newDimensions) {
    start(newDimensions);
    count = 1;
    for (int i = 0; i < dimensions; i++) {
      sums[i] = coordinates[i];
      magnitudes[i] = Math.abs(coordinates[i]);
    }
  }

  /** Becomes the sum of no point; the first that is added tells the number of coordinates. */
  void clear() {
    count = 0;
  }

  /** Adds a point or a sum, with as many coordinates as those before. */
  public void add(PointSum other) {
    if (count == 0) {
      start(other.dimensions);
    } else if (other.dimensions != dimensions) {
      throw new IllegalArgumentException(
          "points of " + other.dimensions + " and " + dimensions + " coordinates have no sum");
    }
    count = Math.addExact(count, other.count);
    for (int i = 0; i < dimensions; i++) {
      double before = sums[i];
      double term = other.sums[i];
      double after = before + term;
      lost[i] += CompensatedSum.lost(before, term, after) + other.lost[i];
      sums[i] = after;
      magnitudes[i] += other.magnitudes[i];
    }
  }

  /** How many points were added. */
  public long count() {
    return count;
  }

  /** The mean of a coordinate; there must be a point. */
  double mean(int coordinate) {
    return (sums[coordinate] + lost[coordinate]) / count;
  }

  /** The mean of the magnitudes of a coordinate; there must be a point. */
  double meanMagnitude(int coordinate) {
    return magnitudes[coordinate] / count;
  }

  /** The mean of the points, which is where their centre goes; there must be a point. */
  public double[] mean() {
    double[] mean = new double[dimensions];
    for (int i = 0; i < dimensions; i++) {
      mean[i] = mean(i);
    }
    return mean;
  }

  /** Whether the mean is elsewhere than a centre; there must be a point. */
  public boolean moves(double[] centre) {
    for (int i = 0; i < dimensions; i++) {
      if (Math.abs(mean(i) - centre[i]) > STILL * meanMagnitude(i)) {
        return true;
      }
    }
    return false;
  }

  private void start(int newDimensions) {
    if (sums.length != newDimensions) {
      sums = new double[newDimensions];
      lost = new double[newDimensions];
      magnitudes = new double[newDimensions];
    } else {
      Arrays.fill(sums, 0);
      Arrays.fill(lost, 0);
      Arrays.fill(magnitudes, 0);
    }
    dimensions = newDimensions;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVLong(out, count);
    WritableUtils.writeVInt(out, dimensions);
    for (int i = 0; i < dimensions; i++) {
      out.writeDouble(sums[i]);
      if (count > 1) {
        out.writeDouble(lost[i]);
        out.writeDouble(magnitudes[i]);
      }
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    count = WritableUtils.readVLong(in);
    start(WritableUtils.readVInt(in));
    for (int i = 0; i < dimensions; i++) {
      sums[i] = in.readDouble();
      lost[i] = count > 1 ? in.readDouble() : 0;
      magnitudes[i] = count > 1 ? in.readDouble() : Math.abs(sums[i]);
    }
  }
}

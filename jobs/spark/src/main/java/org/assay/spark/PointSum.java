package org.assay.spark;

import java.io.Serializable;

/**
 * The sum of some points.
 *
 * <p>Sums are compensated (Neumaier 1974): beside each sum stands what its roundings have lost. So
 * the mean is right to the last digit or so, in whatever order and groups the points are added up.
 * The sum of the magnitudes tells to what the error is relative.
 */
final class PointSum implements Serializable {
  private static final long serialVersionUID = 1L;

  private final double[] sums;
  private final double[] lost;
  private final double[] magnitudes;
  private long count;

  PointSum(int dimensions) {
    sums = new double[dimensions];
    lost = new double[dimensions];
    magnitudes = new double[dimensions];
  }

  /** Adds a point. */
  void add(double[] point) {
    count++;
    for (int i = 0; i < sums.length; i++) {
      add(i, point[i]);
      magnitudes[i] += Math.abs(point[i]);
    }
  }

  /** Adds another sum to this one, and returns this. */
  PointSum plus(PointSum other) {
    count += other.count;
    for (int i = 0; i < sums.length; i++) {
      add(i, other.sums[i]);
      lost[i] += other.lost[i];
      magnitudes[i] += other.magnitudes[i];
    }
    return this;
  }

  private void add(int i, double term) {
    double before = sums[i];
    double after = before + term;
    lost[i] +=
        Math.abs(before) >= Math.abs(term) ? (before - after) + term : (term - after) + before;
    sums[i] = after;
  }

  /** How many points were added. */
  long count() {
    return count;
  }

  /** The mean of a coordinate; there must be a point. */
  double mean(int i) {
    return (sums[i] + lost[i]) / count;
  }

  /** The mean of the magnitudes of a coordinate; there must be a point. */
  double meanMagnitude(int i) {
    return magnitudes[i] / count;
  }
}

package org.assay.jobs.sums;

/** A sum that keeps what its roundings lose (Neumaier 1974), so that the order hardly matters. */
public final class CompensatedSum {
  private double sum;
  private double lost;

  /** What {@code before + term}, which is {@code after} as a double, has lost by rounding. */
  public static double lost(double before, double term, double after) {
    return Math.abs(before) >= Math.abs(term) ? before - after + term : term - after + before;
  }

  /** Becomes the sum of nothing. */
  public void clear() {
    sum = 0;
    lost = 0;
  }

  /** Adds a number. */
  public void add(double term) {
    double after = sum + term;
    lost += lost(sum, term, after);
    sum = after;
  }

  public double value() {
    return sum + lost;
  }
}

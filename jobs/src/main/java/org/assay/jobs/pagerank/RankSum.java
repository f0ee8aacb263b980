package org.assay.jobs.pagerank;

/** A sum that keeps what its roundings lose (Neumaier 1974), so that the order hardly matters. */
final class RankSum {
  private double sum;
  private double lost;

  void clear() {
    sum = 0;
    lost = 0;
  }

  void add(double term) {
    double after = sum + term;
    lost += Math.abs(sum) >= Math.abs(term) ? sum - after + term : term - after + sum;
    sum = after;
  }

  double value() {
    return sum + lost;
  }
}

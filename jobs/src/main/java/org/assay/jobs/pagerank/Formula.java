package org.assay.jobs.pagerank;

import org.apache.hadoop.conf.Configuration;

/**
 * The rank of a vertex: (1 - c) / n, and c times the shares that it gets, where c is the damping
 * and n the number of vertices. The rank of the vertices without an edge that leaves them is handed
 * out to all vertices evenly, so that ranks always sum to 1.
 */
final class Formula {
  private static final String DAMPING = "assay.page-rank.damping";
  private static final String VERTICES = "assay.page-rank.vertices";
  private static final String DANGLING = "assay.page-rank.dangling";

  private final double damping;
  private final long vertices;
  private final double even;

  private Formula(double damping, long vertices, double danglingRank) {
    this.damping = damping;
    this.vertices = vertices;
    this.even = (1 - damping + damping * danglingRank) / vertices;
  }

  /** Tells it to a job's tasks. */
  static void set(Configuration conf, double damping, long vertices, double danglingRank) {
    conf.setDouble(DAMPING, damping);
    conf.setLong(VERTICES, vertices);
    conf.setDouble(DANGLING, danglingRank);
  }

  /** As the job was told. */
  static Formula of(Configuration conf) {
    return new Formula(
        conf.getDouble(DAMPING, Double.NaN),
        conf.getLong(VERTICES, 1),
        conf.getDouble(DANGLING, Double.NaN));
  }

  /** The rank with which each vertex starts. */
  double start() {
    return 1.0 / vertices;
  }

  /** The new rank of a vertex that got these shares. */
  double rank(double shares) {
    return even + damping * shares;
  }
}

package org.assay.jobs.kmeans;

/** What an iteration of k-means counts. */
public enum KMeansCounter {
  /** Points that were given to a cluster, or written with theirs. */
  POINTS,
  /** Centres that did not move; those of empty clusters are among them. */
  CONVERGED,
  /** Clusters without a point, which keep their centre. */
  EMPTY
}

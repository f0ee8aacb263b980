package org.assay.jobs.cores;

/** What each iteration of k-core decomposition counts. */
public enum CoreCounter {
  /** Vertices whose estimate became smaller. */
  CHANGED,
  /** Messages that the maps sent; in the first iteration twice the number of edges. */
  MESSAGES,
  /** Vertices written. */
  VERTICES,
  /** The estimates of all vertices added up: in the last iteration the core numbers. */
  CORE_SUM
}

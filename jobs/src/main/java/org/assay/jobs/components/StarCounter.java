package org.assay.jobs.components;

/** What each job of connected components by stars counts. */
public enum StarCounter {
  /** Pairs that the maps sent, before equal ones are combined. */
  SENT,
  /** Pairs that a star linked to a smaller vertex than before. */
  CHANGED,
  /** Pairs written; in the last job one per vertex. */
  PAIRS,
  /** Vertices without a smaller neighbour: in the last job the number of components. */
  ROOTS,
  /** Times that a contraction's reducer wrote the vertices that it held, as more didn't fit. */
  RELEASED
}

package org.assay.jobs.triangles;

/** What the jobs of triangle counting count. */
public enum TriangleCounter {
  /** Distinct edges of the graph, written with flag 0 by job 1. */
  EDGES,
  /** Open triads whose smallest corner is the apex, written with flag 1 by job 1. */
  WEDGES,
  /** Triads that an edge closes, counted by job 2 and again by job 3. */
  TRIANGLES
}

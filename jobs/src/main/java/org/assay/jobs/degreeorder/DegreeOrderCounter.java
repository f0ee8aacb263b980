package org.assay.jobs.degreeorder;

/** What the jobs in degree order count. */
public enum DegreeOrderCounter {
  /** Vertices of the graph, with and without an edge. */
  VERTICES,
  /** Distinct edges of the graph. */
  EDGES,
  /** Pairs of edges that leave the same vertex towards higher degrees: open triads. */
  WEDGES,
  /** Open triads that an edge closes. */
  TRIANGLES
}

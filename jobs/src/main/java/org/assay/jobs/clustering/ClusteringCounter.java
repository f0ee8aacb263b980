package org.assay.jobs.clustering;

/** What the jobs of the clustering coefficient count. */
public enum ClusteringCounter {
  /** Lines of the output. */
  VERTICES,
  /** Pairs of edges that meet at a vertex. */
  ALL_WEDGES,
  /** Triangles at all vertices: three times the number of triangles. */
  CORNERS,
  /** Sum of the local coefficients, in units of 1e-9; rounded once in each reduce task. */
  COEFFICIENTS_E9
}

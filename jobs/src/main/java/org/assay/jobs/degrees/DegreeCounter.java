package org.assay.jobs.degrees;

/** What the jobs of the degree distribution count. */
public enum DegreeCounter {
  /** Vertices, lone ones too. */
  VERTICES,
  /** Ends of edges: the sum of all degrees, twice the number of edges. */
  EDGE_ENDS,
  /** Output lines: different degrees. */
  DEGREES
}

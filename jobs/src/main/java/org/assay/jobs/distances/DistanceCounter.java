package org.assay.jobs.distances;

/** What each iteration of breadth-first distances counts. */
public enum DistanceCounter {
  /** Vertices that this iteration reached. */
  REACHED,
  /** Messages that the maps sent: the degrees of the vertices that the former one reached. */
  MESSAGES,
  /** Vertices written. */
  VERTICES
}

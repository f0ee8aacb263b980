package org.assay.jobs.components;

/** What each iteration of connected components counts. */
public enum ComponentCounter {
  /** Vertices whose minimum became smaller; in the first iteration all vertices. */
  UPDATED,
  /** Messages that the maps sent. */
  MESSAGES,
  /** Vertices written. */
  VERTICES,
  /**
   * Vertices whose minimum is their own number: the number of components, in the last iteration.
   */
  COMPONENTS
}

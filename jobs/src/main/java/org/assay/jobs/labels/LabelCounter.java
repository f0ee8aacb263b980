package org.assay.jobs.labels;

/** What each iteration of label propagation counts. */
public enum LabelCounter {
  /** Vertices whose label is another than before. */
  CHANGED,
  /** Messages that the maps sent: twice the number of edges. */
  MESSAGES,
  /** Vertices written. */
  VERTICES
}

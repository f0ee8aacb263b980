package org.assay.jobs.normalise;

/** What {@code normalise} counts. LINES is the sum of the next five. */
public enum NormaliseCounter {
  /** Lines read. */
  LINES,
  /** Lines before the offset of {@code --skip-bytes}. */
  SKIPPED_LINES,
  /** Lines that start with a comment character. */
  COMMENTS,
  /** Lines without a field. */
  BLANKS,
  /** Lines with two vertices, self loops among them. */
  EDGE_LINES,
  /** Lines with one vertex. */
  LONE_LINES,
  /** Lines with the same vertex twice. */
  SELF_LOOPS,
  /** Lines that repeat an edge in either direction: EDGE_LINES - EDGES - SELF_LOOPS. */
  DUPLICATES,
  /** Of each edge's lines, those in its rarer direction: 1 per edge if each is listed both ways. */
  REVERSED_DUPLICATES,
  /** Distinct edges written. */
  EDGES,
  /** Distinct vertices, those without an edge among them. */
  VERTICES,
  /** Vertices without an edge, written alone on a line. */
  LONE_VERTICES
}

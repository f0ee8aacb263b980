package org.assay.jobs.wordfrequency;

/** What the counting job counts. */
public enum WordFrequencyCounter {
  /** Words that the maps found, each occurrence once. */
  WORDS,
  /** Output lines: different words. */
  DISTINCT_WORDS
}

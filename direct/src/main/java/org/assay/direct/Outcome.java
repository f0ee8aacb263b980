package org.assay.direct;

/** Why a task has the local directories that it has: those of its tier, or others. */
enum Outcome {
  DIRECTED,
  /** The tier's file system is filled to the limit, or would be. */
  OVERFLOW_FULL,
  /** The tier's directory is not there, or the NodeManager no longer gives it out. */
  OVERFLOW_MISSING,
  OVERFLOW_READ_ONLY,
  /** No tag on this node names the tier. */
  OVERFLOW_UNTAGGED,
  /** The node's tags cannot be read. */
  OVERFLOW_BAD_TAGS,
  /** The job's limit, or what a task is expected to write, is no number; the task's log tells. */
  OVERFLOW_BAD_NUMBER,
  /**
   * Earlier attempts of the task ended, whatever ended them, and others have more room or this is a
   * third attempt.
   */
  OVERFLOW_RETRIED
}

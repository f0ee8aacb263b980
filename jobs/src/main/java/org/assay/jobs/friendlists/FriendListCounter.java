package org.assay.jobs.friendlists;

/** What the friend lists job counts. */
public enum FriendListCounter {
  /** Lines written: one per vertex. */
  VERTICES,
  /** Entries of all lists, twice the number of edges. */
  NEIGHBOURS
}

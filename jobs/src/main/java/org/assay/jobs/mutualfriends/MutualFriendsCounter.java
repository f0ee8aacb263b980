package org.assay.jobs.mutualfriends;

/** What the jobs of mutual friends count. */
public enum MutualFriendsCounter {
  /** Records that the maps of job 2 emit: an edge and a candidate each. */
  TRIPLES,
  /** Candidates that both ends of an edge know; three times the number of triangles. */
  MUTUAL_FRIENDS,
  /** Lines of the output. */
  EDGES_WITH_MUTUAL_FRIENDS
}

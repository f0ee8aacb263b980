package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;

/** The command {@code mutual-friends-intersect}: triangles where directed lists meet. */
public final class IntersectMutualFriends extends DegreeOrderFriends {
  @Override
  public String summary() {
    return "the common neighbours of each edge, without listing triads (4 jobs)";
  }

  @Override
  protected String variant() {
    return "intersect";
  }

  @Override
  String findingName() {
    return "intersection";
  }

  @Override
  void configureFinding(Job job, Path directed, Path found) throws IOException {
    FriendsIntersectionJob.configure(job, directed, found);
  }
}

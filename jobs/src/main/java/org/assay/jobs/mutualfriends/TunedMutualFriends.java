package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;

/** The command {@code mutual-friends-tuned}: triangles by closing triads in degree order. */
public final class TunedMutualFriends extends DegreeOrderFriends {
  @Override
  public String summary() {
    return "the common neighbours of each edge, by triads in degree order (4 jobs)";
  }

  @Override
  protected String variant() {
    return "tuned";
  }

  @Override
  String findingName() {
    return "closing";
  }

  @Override
  void configureFinding(Job job, Path directed, Path found) throws IOException {
    FriendsClosingJob.configure(job, directed, found);
  }
}

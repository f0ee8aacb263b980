package org.assay.jobs.mutualfriends;

import static org.assay.jobs.mutualfriends.MutualFriendsCounter.EDGES_WITH_MUTUAL_FRIENDS;
import static org.assay.jobs.mutualfriends.MutualFriendsCounter.MUTUAL_FRIENDS;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.degreeorder.DegreeOrder;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * Mutual friends from triangles that are listed once, in degree order; the output is that of {@link
 * MutualFriends}. See {@link org.assay.jobs.degreeorder.NeighboursJob}, {@link
 * org.assay.jobs.degreeorder.DirectionsJob} and {@link TriangleListsJob}.
 */
abstract class DegreeOrderFriends extends Workload {
  @Override
  public final String name() {
    return "mutual-friends-" + variant();
  }

  @Override
  protected final int expectedJobs() {
    return 4;
  }

  /** The name of the job that finds the triangles. */
  abstract String findingName();

  /** Sets up the job that writes edges with third corners, from the directed lists. */
  abstract void configureFinding(Job job, Path directed, Path found) throws IOException;

  @Override
  protected final void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path directed = DegreeOrder.directions(jobs, input, report);

    Path found = jobs.intermediate("triangles");
    Job finding = jobs.newJob(TriangleListsJob.class);
    configureFinding(finding, directed, found);
    DegreeOrder.reportTriangles(jobs.run(findingName(), finding), report);
    jobs.discard(directed);

    Job collecting = jobs.newJob(TriangleListsJob.class);
    TriangleListsJob.configure(collecting, found, output);
    Counters counters = jobs.run("lists", collecting);
    jobs.discard(found);
    report.result("mutual_friends", counters.findCounter(MUTUAL_FRIENDS).getValue());
    report.result(
        "edges_with_mutual_friends", counters.findCounter(EDGES_WITH_MUTUAL_FRIENDS).getValue());
  }
}

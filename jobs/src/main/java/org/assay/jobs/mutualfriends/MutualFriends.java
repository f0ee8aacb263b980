package org.assay.jobs.mutualfriends;

import static org.assay.jobs.mutualfriends.MutualFriendsCounter.EDGES_WITH_MUTUAL_FRIENDS;
import static org.assay.jobs.mutualfriends.MutualFriendsCounter.MUTUAL_FRIENDS;
import static org.assay.jobs.mutualfriends.MutualFriendsCounter.TRIPLES;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.friendlists.FriendListsJob;

/**
 * The command {@code mutual-friends}: for each edge of a canonical graph the vertices connected to
 * both of its ends. Edges without any are left out. See {@link FriendListsJob}, {@link TriplesJob}
 * and {@link ListsJob}.
 */
public final class MutualFriends extends Workload {
  private static final String LITERAL = "literal-loops";

  @Override
  public String name() {
    return "mutual-friends";
  }

  @Override
  public String summary() {
    return "the common neighbours of each edge (3 jobs)";
  }

  @Override
  public String optionsUsage() {
    return "    --literal-loops        emit the friend itself as a candidate too, as printed\n";
  }

  @Override
  protected int expectedJobs() {
    return 3;
  }

  @Override
  protected Set<String> flagOptions() {
    return Set.of(LITERAL);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) {
    conf.setBoolean(TriplesJob.LITERAL_LOOPS, arguments.has(LITERAL));
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path lists = jobs.intermediate("friend-lists");
    Job listing = jobs.newJob(FriendListsJob.class);
    FriendListsJob.configure(listing, input, lists);
    jobs.run("friend-lists", listing);

    Path known = jobs.intermediate("triples");
    Job triples = jobs.newJob(TriplesJob.class);
    TriplesJob.configure(triples, lists, known);
    Counters counters = jobs.run("triples", triples);
    jobs.discard(lists);
    report.result("triples", counters.findCounter(TRIPLES).getValue());
    report.result("mutual_friends", counters.findCounter(MUTUAL_FRIENDS).getValue());

    Job collecting = jobs.newJob(ListsJob.class);
    ListsJob.configure(collecting, known, output);
    counters = jobs.run("lists", collecting);
    jobs.discard(known);
    report.result(
        "edges_with_mutual_friends", counters.findCounter(EDGES_WITH_MUTUAL_FRIENDS).getValue());
  }
}

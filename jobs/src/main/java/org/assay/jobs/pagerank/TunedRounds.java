package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;

/** One job per iteration, through which the edges pass in lists. */
final class TunedRounds implements Rounds {
  private final JobSequence jobs;
  private Path current;
  private long edges;
  private long dangling;
  private double danglingRank;

  TunedRounds(JobSequence jobs) {
    this.jobs = jobs;
  }

  @Override
  public Counters prepare(Path input) throws IOException, InterruptedException, JobFailedException {
    current = jobs.intermediate("adjacency");
    Job job = jobs.newJob(AdjacencyJob.class);
    AdjacencyJob.configure(job, input, current);
    Counters counters = jobs.run("adjacency", job);
    edges = PageRankCounter.EDGES.numberIn(counters);
    dangling = PageRankCounter.DANGLING_VERTICES.numberIn(counters);
    danglingRank = dangling / (double) PageRankCounter.VERTICES.numberIn(counters);
    return counters;
  }

  @Override
  public Counters next(long iteration, double damping, long vertices)
      throws IOException, InterruptedException, JobFailedException {
    Path next = jobs.intermediate("iteration-" + iteration);
    Job job = jobs.newJob(SpreadJob.class);
    Formula.set(job.getConfiguration(), damping, vertices, danglingRank);
    SpreadJob.configure(job, current, next);
    Counters counters = jobs.run("iteration " + iteration, job);
    jobs.discard(current);
    current = next;
    danglingRank = PageRankCounter.DANGLING_RANK.sumIn(counters);
    return counters;
  }

  @Override
  public void finish(Path output) throws IOException, InterruptedException, JobFailedException {
    Job job = jobs.newJob(RanksJob.class);
    RanksJob.configure(job, current, output);
    jobs.run("ranks", job);
    jobs.discard(current);
  }

  @Override
  public long edges() {
    return edges;
  }

  @Override
  public long danglingVertices() {
    return dangling;
  }
}

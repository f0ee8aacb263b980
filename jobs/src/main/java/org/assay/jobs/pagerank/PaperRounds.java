package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;

/** Two jobs per iteration, as Pegasus has them: a join of edges and ranks, and a sum by target. */
final class PaperRounds implements Rounds {
  private final JobSequence jobs;
  private Path edgesPath;
  private Path ranks;
  private long edges;
  private long dangling;

  PaperRounds(JobSequence jobs) {
    this.jobs = jobs;
  }

  @Override
  public Counters prepare(Path input) throws IOException, InterruptedException, JobFailedException {
    edgesPath = input;
    ranks = jobs.intermediate("vertices");
    Job job = jobs.newJob(VerticesJob.class);
    VerticesJob.configure(job, edgesPath, ranks);
    return jobs.run("vertices", job);
  }

  @Override
  public Counters next(long iteration, double damping, long vertices)
      throws IOException, InterruptedException, JobFailedException {
    Path shares = jobs.intermediate("shares-" + iteration);
    Job join = jobs.newJob(JoinJob.class);
    Formula.set(join.getConfiguration(), damping, vertices, 0);
    JoinJob.configure(join, edgesPath, ranks, shares);
    Counters joined = jobs.run("join " + iteration, join);
    jobs.discard(ranks);
    edges = PageRankCounter.EDGES.numberIn(joined);
    dangling = PageRankCounter.DANGLING_VERTICES.numberIn(joined);

    ranks = jobs.intermediate("ranks-" + iteration);
    Job sum = jobs.newJob(SumJob.class);
    double danglingRank = PageRankCounter.DANGLING_RANK.sumIn(joined);
    Formula.set(sum.getConfiguration(), damping, vertices, danglingRank);
    SumJob.configure(sum, shares, ranks);
    Counters summed = jobs.run("sum " + iteration, sum);
    jobs.discard(shares);
    return summed;
  }

  @Override
  public void finish(Path output) throws IOException, InterruptedException, JobFailedException {
    jobs.publish(ranks, output);
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

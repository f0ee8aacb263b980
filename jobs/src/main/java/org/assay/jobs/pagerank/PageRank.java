package org.assay.jobs.pagerank;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.graph.LineForm;

/**
 * The commands {@code page-rank} and {@code page-rank-tuned}: the rank of each vertex of a directed
 * graph, by power iteration from equal ranks, until the ranks of all vertices together change by
 * less than the tolerance (L1 norm) or a bound is reached. See {@link Formula}, {@link PaperRounds}
 * and {@link TunedRounds}. Source: the study of HPC storage, PageRank of Pegasus.
 */
public final class PageRank extends Workload {
  private static final String DAMPING = "damping";
  private static final String TOLERANCE = "tolerance";
  private static final String ITERATIONS = "iterations";
  private static final double DEFAULT_DAMPING = 0.85;
  private static final double DEFAULT_TOLERANCE = 1e-7;
  private static final long DEFAULT_ITERATIONS = 50;

  private final boolean tuned;
  private double damping;
  private double tolerance;
  private long iterations;

  private PageRank(boolean tuned) {
    this.tuned = tuned;
  }

  /** With two jobs per iteration, as published. */
  public static PageRank paper() {
    return new PageRank(false);
  }

  /** With one job per iteration and a combiner. */
  public static PageRank tuned() {
    return new PageRank(true);
  }

  @Override
  public String name() {
    return tuned ? "page-rank-tuned" : "page-rank";
  }

  @Override
  public String summary() {
    return tuned
        ? "PageRank with adjacency lists (2 jobs and 1 per iteration)"
        : "PageRank of a directed graph (1 job and 2 per iteration)";
  }

  @Override
  protected String variant() {
    return tuned ? "tuned" : "paper";
  }

  @Override
  public String optionsUsage() {
    return "    --damping C            how much of a rank follows the edges (0.85)\n"
        + "    --tolerance T          stop when the ranks change by less in all (1e-7)\n"
        + "    --iterations N         stop after N iterations (50)\n";
  }

  @Override
  protected int expectedJobs() {
    return 0;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(DAMPING, TOLERANCE, ITERATIONS);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    damping = arguments.share(DAMPING, DEFAULT_DAMPING, 1);
    tolerance = arguments.share(TOLERANCE, DEFAULT_TOLERANCE, 2);
    iterations = arguments.number(ITERATIONS, DEFAULT_ITERATIONS, 1);
  }

  @Override
  protected LineForm lineForm() {
    return new DirectedEdge()::read;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    Rounds rounds = tuned ? new TunedRounds(jobs) : new PaperRounds(jobs);
    long vertices = PageRankCounter.VERTICES.numberIn(rounds.prepare(input));
    long iteration = 0;
    double change;
    do {
      iteration++;
      Counters counters = rounds.next(iteration, damping, vertices);
      change = PageRankCounter.CHANGE.sumIn(counters);
      report.result("change", change);
      report.result("rank_sum", PageRankCounter.RANK.sumIn(counters));
    } while (change >= tolerance && iteration < iterations);
    rounds.finish(output);
    report.result("iterations", iteration);
    report.result("converged", change < tolerance ? 1 : 0);
    report.result("vertices", vertices);
    report.result("edges", rounds.edges());
    report.result("dangling_vertices", rounds.danglingVertices());
  }
}

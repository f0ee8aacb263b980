package org.assay.jobs.triangles;

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
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.driver.Workload;

/**
 * The command {@code triangles-partition}: the number of triangles of a canonical graph in one job,
 * each counted once in the memory of a reducer. See {@link PartitionJob}.
 */
public final class PartitionTriangles extends Workload {
  private static final String IN_MEMORY = "edges-in-memory";
  private static final long DEFAULT_IN_MEMORY = 4_000_000;
  private static final long MOST_IN_MEMORY = 1 << 29;

  /** Of an edge's text at least, where the vertices have two digits or more. */
  private static final long EDGE_BYTES = 6;

  private int mostEdges;

  @Override
  public String name() {
    return "triangles-partition";
  }

  @Override
  public String summary() {
    return "the number of triangles, by parts of the graph that fit into memory (1 job)";
  }

  @Override
  public String optionsUsage() {
    return "    --edges-in-memory N    that a reducer may hold, 30 bytes each (4000000)\n";
  }

  @Override
  protected String variant() {
    return "partition";
  }

  @Override
  protected int expectedJobs() {
    return 1;
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(IN_MEMORY);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    long most = arguments.number(IN_MEMORY, DEFAULT_IN_MEMORY, 1);
    if (most > MOST_IN_MEMORY) {
      throw new UsageException(
          "option --" + IN_MEMORY + " must be at most " + MOST_IN_MEMORY + ", got " + most);
    }
    mostEdges = (int) most;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException, UsageException {
    int parts = parts(jobs.bytes(input) / EDGE_BYTES);
    Job job = jobs.newJob(PartitionJob.class);
    PartitionJob.configure(job, parts, mostEdges, input, output);
    Counters counters = jobs.run("counting", job);
    report.result("parts", parts);
    report.result("edges", counters.findCounter(TriangleCounter.EDGES).getValue());
    report.result("triangles", counters.findCounter(TriangleCounter.TRIANGLES).getValue());
  }

  /** The fewest parts of which no three have more edges among them than memory has room for. */
  private int parts(long edges) throws UsageException {
    if (edges <= mostEdges) {
      return 1;
    }
    // Of p parts, three have 6/p^2 of the edges: 2/p^2 between each two. Of two parts 3/4.
    double parts = Math.max(3, Math.ceil(Math.sqrt(6.0 * edges / mostEdges)));
    if (parts > PartitionJob.MOST_PARTS) {
      throw new UsageException(
          "a graph of some "
              + edges
              + " edges would need "
              + (long) parts
              + " parts and can have "
              + PartitionJob.MOST_PARTS
              + "; raise --"
              + IN_MEMORY);
    }
    return (int) parts;
  }
}

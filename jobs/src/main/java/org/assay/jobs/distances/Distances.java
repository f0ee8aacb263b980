package org.assay.jobs.distances;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code breadth-first-distances}: the hops of every vertex of a canonical graph from
 * the nearest of given vertices, by default from the smallest; -1 for a vertex that can't be
 * reached. After the friend lists, iterations run until one reaches no vertex: one more than the
 * largest distance. See {@link DistanceJob}.
 */
public final class Distances extends IterativeWorkload {
  private static final String FROM = "from";

  private Collection<Long> sources = List.of();
  private long reached;
  private long messages;
  private long levels;

  @Override
  public String name() {
    return "breadth-first-distances";
  }

  @Override
  public String summary() {
    return "the hops of each vertex from given ones (1 job and 1 per iteration)";
  }

  @Override
  public String optionsUsage() {
    return "    --from V+V+...         count hops from these vertices (the smallest)\n"
        + super.optionsUsage();
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(FROM, MAX_ITERATIONS);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    super.configure(arguments, conf);
    String given = arguments.get(FROM, null);
    if (given != null) {
      sources = Sources.parse(given);
    }
  }

  @Override
  protected void configurePreparation(Job listing) {
    Sources.put(listing.getConfiguration(), sources);
    listing.setReducerClass(Sources.SeekingReducer.class);
  }

  @Override
  protected void preparationDone(Counters counters, Path lists) throws IOException, UsageException {
    if (sources.isEmpty()) {
      sources = List.of(SmallestVertex.of(lists, getConf()));
    } else {
      Sources.requireFound(sources, counters);
    }
    reached = sources.size();
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    Sources.put(job.getConfiguration(), sources);
    DistanceJob.configure(job, iteration == 1, input, output);
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    long newlyReached = value(counters, DistanceCounter.REACHED);
    reached += newlyReached;
    messages += value(counters, DistanceCounter.MESSAGES);
    levels = newlyReached > 0 ? iteration : levels;
    return newlyReached == 0;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, DistanceCounter.VERTICES));
    report.result("reached", reached);
    report.result("levels", levels);
    report.result("messages", messages);
  }
}

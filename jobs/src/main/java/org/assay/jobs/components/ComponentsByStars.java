package org.assay.jobs.components;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.driver.Arguments;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.vertex.IterativeWorkload;

/**
 * The command {@code components-tuned}: gives every vertex of a canonical graph the smallest vertex
 * number of its component.
 *
 * <p>As long as there are more pairs than one task may hold vertices, large-star and small-star
 * alternate (see {@link StarJob}); their number doesn't grow with the diameter. When the pairs fit,
 * a contraction in one reducer's memory ends it (see {@link ContractionJob}): there are at least as
 * many pairs as vertices. A graph whose files are small is contracted at once, and goes on with
 * stars if its vertices don't fit. With no memory it ends when one star of each kind, in a row,
 * changed nothing: then each component is a star around its smallest vertex.
 */
public final class ComponentsByStars extends IterativeWorkload {
  private static final String IN_MEMORY = "vertices-in-memory";
  private static final long DEFAULT_IN_MEMORY = 1_000_000;
  private static final long MOST_IN_MEMORY = 1 << 28;

  /** Of the graph's text: that of three edges or so, as most graphs have more edges a vertex. */
  private static final long BYTES_PER_VERTEX = 32;

  private enum Step {
    LARGE_STAR,
    SMALL_STAR,
    CONTRACTION
  }

  private final Map<Step, Integer> begun = new EnumMap<>(Step.class);
  private int mostVertices;
  private Step step = Step.LARGE_STAR;
  private boolean lastChanged = true;
  private long sent;

  @Override
  public String name() {
    return "components-tuned";
  }

  @Override
  public String summary() {
    return "the connected component of each vertex, by stars and contraction (1 job or more)";
  }

  @Override
  public String optionsUsage() {
    return super.optionsUsage()
        + "    --vertices-in-memory N that a task may hold, 60 bytes each; 0: none (1000000)\n";
  }

  @Override
  protected String variant() {
    return "tuned";
  }

  @Override
  protected Set<String> valuedOptions() {
    return Set.of(MAX_ITERATIONS, IN_MEMORY);
  }

  @Override
  protected void configure(Arguments arguments, Configuration conf) throws UsageException {
    super.configure(arguments, conf);
    long most = arguments.number(IN_MEMORY, DEFAULT_IN_MEMORY, 0);
    if (most == 1 || most > MOST_IN_MEMORY) {
      throw new UsageException(
          "option --" + IN_MEMORY + " must be 0, or from 2 to " + MOST_IN_MEMORY + ", got " + most);
    }
    mostVertices = (int) most;
  }

  @Override
  protected Path prepare(JobSequence jobs, Path input) throws IOException {
    if (mostVertices > 0 && jobs.bytes(input) <= BYTES_PER_VERTEX * mostVertices) {
      step = Step.CONTRACTION;
    }
    return input;
  }

  @Override
  protected String jobName(long iteration) {
    return step.name().toLowerCase(Locale.ROOT).replace('_', '-') + " " + begun.get(step);
  }

  @Override
  protected void configureIteration(Job job, long iteration, Path input, Path output)
      throws IOException {
    boolean first = iteration == 1;
    begun.merge(step, 1, Integer::sum);
    if (step == Step.CONTRACTION) {
      ContractionJob.configure(job, mostVertices, first, input, output);
    } else {
      boolean large = step == Step.LARGE_STAR;
      StarJob.configure(job, large, first ? mostVertices : 0, first, input, output);
    }
  }

  @Override
  protected boolean hasSettled(long iteration, Counters counters) {
    sent += value(counters, StarCounter.SENT);
    if (step == Step.CONTRACTION && value(counters, StarCounter.RELEASED) == 0) {
      return true;
    }
    boolean changed = step == Step.CONTRACTION || value(counters, StarCounter.CHANGED) > 0;
    if (!changed && !lastChanged) {
      return true;
    }
    lastChanged = changed;
    if (value(counters, StarCounter.PAIRS) <= mostVertices) {
      step = Step.CONTRACTION;
    } else {
      step = step == Step.LARGE_STAR ? Step.SMALL_STAR : Step.LARGE_STAR;
    }
    return false;
  }

  @Override
  protected void tellResult(Counters last, RunReport report) {
    report.result("vertices", value(last, StarCounter.PAIRS));
    report.result("components", value(last, StarCounter.ROOTS));
    report.result("sent", sent);
  }
}

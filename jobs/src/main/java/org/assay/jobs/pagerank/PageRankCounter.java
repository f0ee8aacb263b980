package org.assay.jobs.pagerank;

import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.assay.jobs.sums.CompensatedSum;

/**
 * What the jobs of PageRank count. Ranks sum to 1, so sums of them are counted in units of 2^-61: a
 * task adds its own sum once, which is off by half a unit at most, 2e-19. That is less than the
 * rounding of a double, and a counter has only those tasks that succeeded.
 */
public enum PageRankCounter {
  /** Vertices. */
  VERTICES,
  /** Edges, each counted once however often it is listed. */
  EDGES,
  /** Vertices without an edge that leaves them. */
  DANGLING_VERTICES,
  /** Rank of the vertices without an edge that leaves them, in units of 2^-61. */
  DANGLING_RANK,
  /** Rank of all vertices, in units of 2^-61. */
  RANK,
  /** How much all ranks changed together (L1 norm), in units of 2^-61. */
  CHANGE;

  private static final double UNITS = 0x1p61;

  /** Adds a task's sum, which is between 0 and 2 or so. */
  void add(TaskInputOutputContext<?, ?, ?, ?> context, CompensatedSum sum) {
    context.getCounter(this).increment(Math.round(sum.value() * UNITS));
  }

  /** Adds a task's number of things. */
  void add(TaskInputOutputContext<?, ?, ?, ?> context, long number) {
    context.getCounter(this).increment(number);
  }

  /** A job's sum. */
  double sumIn(Counters counters) {
    return counters.findCounter(this).getValue() / UNITS;
  }

  /** A job's number of things. */
  long numberIn(Counters counters) {
    return counters.findCounter(this).getValue();
  }
}

package org.assay.direct;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a task of MapReduce does before it writes intermediate data. */
final class Direct {
  /** The tier that a job wants; a job without it keeps all directories. */
  static final String TIER = "assay.direct.tier";

  static final String COUNTERS = "AssayDirect";

  /** Of the task alone: YARN's child and a task in the application master have a copy each. */
  static final String LOCAL_DIRECTORIES = "mapreduce.cluster.local.dir";

  /** Attempts of the nth application master are numbered from (n - 1) times this (TaskImpl). */
  private static final int ATTEMPTS_OF_A_MASTER = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Direct.class);

  private Direct() {}

  /**
   * Narrows the local directories of a task to those of its job's tier, and counts the outcome.
   *
   * <p>Later attempts leave a tier that has less room than the others, and every third attempt
   * leaves any, so that what a full or broken one ends is tried again elsewhere. Fails for nothing
   * of its own.
   */
  static void narrow(JobConf conf, TaskAttemptID attempt, Reporter reporter) {
    String tier = conf.getTrimmed(TIER, "");
    String[] given = conf.getTrimmedStrings(LOCAL_DIRECTORIES);
    if (tier.isEmpty() || given.length == 0) {
      return;
    }
    Tiers.Choice choice = Tiers.choose(conf, tier, given, attempt.getId() % ATTEMPTS_OF_A_MASTER);
    conf.setStrings(LOCAL_DIRECTORIES, choice.directories.toArray(new String[0]));
    LOG.info("{} of {}: {}", choice.outcome, attempt, choice.directories);
    try {
      reporter.incrCounter(COUNTERS, choice.outcome.name(), 1);
    } catch (RuntimeException e) {
      LOG.warn("The outcome is not counted: {}", e.toString());
    }
  }
}

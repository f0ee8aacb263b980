package org.assay.jobs.driver;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/** The effective Hadoop properties that decide how a workload's jobs run. */
final class Settings {
  private static final String[] RELEVANT = {
    "dfs.blocksize",
    "dfs.replication",
    "fs.defaultFS",
    "io.file.buffer.size",
    "mapreduce.cluster.local.dir",
    "mapreduce.framework.name",
    "mapreduce.input.fileinputformat.split.maxsize",
    "mapreduce.input.fileinputformat.split.minsize",
    "mapreduce.job.jvm.numtasks",
    "mapreduce.job.queuename",
    "mapreduce.job.reduce.slowstart.completedmaps",
    "mapreduce.job.reduces",
    "mapreduce.job.ubertask.enable",
    "mapreduce.map.cpu.vcores",
    "mapreduce.map.java.opts",
    "mapreduce.map.memory.mb",
    "mapreduce.map.output.compress",
    "mapreduce.map.output.compress.codec",
    "mapreduce.map.sort.spill.percent",
    "mapreduce.map.speculative",
    "mapreduce.output.fileoutputformat.compress",
    "mapreduce.output.fileoutputformat.compress.codec",
    "mapreduce.reduce.cpu.vcores",
    "mapreduce.reduce.input.buffer.percent",
    "mapreduce.reduce.java.opts",
    "mapreduce.reduce.memory.mb",
    "mapreduce.reduce.merge.inmem.threshold",
    "mapreduce.reduce.shuffle.input.buffer.percent",
    "mapreduce.reduce.shuffle.memory.limit.percent",
    "mapreduce.reduce.shuffle.merge.percent",
    "mapreduce.reduce.shuffle.parallelcopies",
    "mapreduce.reduce.speculative",
    "mapreduce.task.io.sort.factor",
    "mapreduce.task.io.sort.mb",
  };

  private Settings() {}

  /** The relevant properties that are set, and every property given by {@code -D}, by name. */
  static Map<String, String> effective(Configuration conf) {
    Map<String, String> settings = new TreeMap<>();
    for (String property : RELEVANT) {
      String value = conf.get(property);
      if (value != null) {
        settings.put(property, value);
      }
    }
    for (Map.Entry<String, String> entry : conf) {
      String[] sources = conf.getPropertySources(entry.getKey());
      if (sources != null
          && sources.length > 0
          && sources[sources.length - 1].contains("command line")) {
        settings.put(entry.getKey(), conf.get(entry.getKey()));
      }
    }
    return settings;
  }
}

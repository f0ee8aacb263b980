package org.assay.spark;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.launcher.JavaModuleOptions;

/** The effective properties that decide how an application runs. */
final class Settings {
  private static final String HADOOP = "spark.hadoop.";

  /** Spark's that have a default, with that default in Spark 3.5. */
  private static final String[][] DEFAULTS = {
    {"spark.broadcast.compress", "true"},
    {"spark.dynamicAllocation.enabled", "false"},
    {"spark.executor.cores", "1"},
    {"spark.executor.instances", "2"},
    {"spark.executor.memory", "1g"},
    {"spark.io.compression.codec", "lz4"},
    {"spark.locality.wait", "3s"},
    {"spark.memory.fraction", "0.6"},
    {"spark.memory.offHeap.enabled", "false"},
    {"spark.memory.storageFraction", "0.5"},
    {"spark.rdd.compress", "false"},
    {"spark.reducer.maxSizeInFlight", "48m"},
    {"spark.serializer", "org.apache.spark.serializer.JavaSerializer"},
    {"spark.shuffle.compress", "true"},
    {"spark.shuffle.file.buffer", "32k"},
    {"spark.shuffle.spill.compress", "true"},
    {"spark.speculation", "false"},
    {"spark.sql.adaptive.enabled", "true"},
    {"spark.sql.files.maxPartitionBytes", "128MB"},
    {"spark.sql.shuffle.partitions", "200"},
  };

  private static final String[] HADOOP_RELEVANT = {
    "dfs.blocksize",
    "dfs.replication",
    "fs.defaultFS",
    "io.file.buffer.size",
    "mapreduce.input.fileinputformat.split.maxsize",
    "mapreduce.input.fileinputformat.split.minsize",
    "mapreduce.output.fileoutputformat.compress",
    "mapreduce.output.fileoutputformat.compress.codec",
  };

  /** Of one run, a place, or a secret. */
  private static final Pattern LEFT_OUT =
      Pattern.compile(
          "spark\\.(app|driver\\.(host|port|bindAddress)|eventLog\\.dir|executor\\.id|jars|local\\.dir|master|repl|submit|ui|yarn)"
              + "(\\..*)?|(?i).*(secret|password|token|credential).*");

  private Settings() {}

  /**
   * All of Spark's that are set or have a default above, and Hadoop's that matter or were given.
   */
  static Map<String, String> effective(SparkConf conf, Configuration hadoop) {
    Map<String, String> settings = new TreeMap<>();
    for (String[] entry : DEFAULTS) {
      settings.put(entry[0], entry[1]);
    }
    for (String property : HADOOP_RELEVANT) {
      String value = hadoop.get(property);
      if (value != null) {
        settings.put(property, value);
      }
    }
    for (scala.Tuple2<String, String> entry : conf.getAll()) {
      String name =
          entry._1().startsWith(HADOOP) ? entry._1().substring(HADOOP.length()) : entry._1();
      if (!LEFT_OUT.matcher(name).matches()) {
        settings.put(name, entry._2().replace(JavaModuleOptions.defaultModuleOptions(), "").trim());
      }
    }
    return settings;
  }
}

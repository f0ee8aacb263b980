package org.assay.jobs.driver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;

/**
 * The counters of a MapReduce job that Tez ran as a DAG. Tez' client for MapReduce jobs has none
 * once the DAG has ended, but its application master writes all counters into a history file (Tez:
 * SimpleHistoryLoggingService): JSON records, each ended by the character U+0001 and a line break.
 */
final class DagHistory {
  private static final String FRAMEWORK = "yarn-tez";
  private static final String FOLDER = "tez.simple.history.logging.dir";
  private static final String RECORD_END = "\u0001";
  private static final long PATIENCE_MS = 30_000;
  private static final long POLL_MS = 50;
  private static final ObjectMapper JSON = new ObjectMapper();

  private DagHistory() {}

  /** Whether jobs of this configuration are run by Tez, with a history file in the file system. */
  static boolean isWritten(Configuration conf) {
    return FRAMEWORK.equals(conf.get("mapreduce.framework.name")) && conf.get(FOLDER) != null;
  }

  /**
   * The counters of a job that has succeeded, by the names that its tasks gave them. The file is
   * whole only after the application master's end, so it is waited for.
   *
   * @throws IOException if it is not there, or not whole, within 30 seconds
   */
  static Counters counters(Configuration conf, JobID job) throws IOException, InterruptedException {
    Path folder = new Path(conf.get(FOLDER));
    FileSystem files = folder.getFileSystem(conf);
    String prefix =
        String.format(
            Locale.ROOT, "history.txt.appattempt_%s_%04d_", job.getJtIdentifier(), job.getId());
    long deadline = System.nanoTime() + PATIENCE_MS * 1_000_000;
    while (true) {
      JsonNode end = dagEnd(files, folder, prefix);
      if (end != null) {
        return counters(end.path("otherinfo").path("counters"));
      }
      if (System.nanoTime() > deadline) {
        throw new IOException("no end of the DAG of " + job + " in the history files in " + folder);
      }
      Thread.sleep(POLL_MS);
    }
  }

  /** The record of the DAG's end, from the newest attempt that has one; null where none has. */
  private static JsonNode dagEnd(FileSystem files, Path folder, String prefix) throws IOException {
    FileStatus[] histories;
    try {
      histories = files.listStatus(folder, path -> path.getName().startsWith(prefix));
    } catch (FileNotFoundException e) {
      return null;
    }
    Arrays.sort(histories);
    for (int i = histories.length - 1; i >= 0; i--) {
      try (InputStream history = files.open(histories[i].getPath())) {
        JsonNode end = dagEnd(new String(history.readAllBytes(), StandardCharsets.UTF_8));
        if (end != null) {
          return end;
        }
      }
    }
    return null;
  }

  /** The record of a DAG's end; what follows the last end of a record is still being written. */
  static JsonNode dagEnd(String history) throws IOException {
    int begin = 0;
    for (int end = history.indexOf(RECORD_END);
        end >= 0;
        end = history.indexOf(RECORD_END, begin)) {
      String record = history.substring(begin, end);
      begin = end + RECORD_END.length();
      if (record.contains("DAG_FINISHED")) {
        JsonNode event = JSON.readTree(record);
        for (JsonNode change : event.path("events")) {
          if (change.path("eventtype").asText().equals("DAG_FINISHED")) {
            return event;
          }
        }
      }
    }
    return null;
  }

  static Counters counters(JsonNode groups) {
    Counters counters = new Counters();
    for (JsonNode group : groups.path("counterGroups")) {
      String name = group.path("counterGroupName").asText();
      for (JsonNode counter : group.path("counters")) {
        counters
            .findCounter(name, counter.path("counterName").asText())
            .setValue(counter.path("counterValue").asLong());
      }
    }
    return counters;
  }
}

package org.assay.jobs.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DagHistoryTest {
  private static final String STARTED =
      "{\"entity\":\"dag_17_0004_1\",\"events\":[{\"ts\":5,\"eventtype\":\"DAG_STARTED\"}]}\u0001\n";
  private static final String FINISHED =
      "{\"entity\":\"dag_17_0004_1\",\"events\":[{\"ts\":9,\"eventtype\":\"DAG_FINISHED\"}],"
          + "\"otherinfo\":{\"status\":\"SUCCEEDED\",\"counters\":{\"counterGroups\":["
          + "{\"counterGroupName\":\"org.assay.Some\",\"counters\":["
          + "{\"counterName\":\"CHANGED\",\"counterValue\":7}]}]}}}\u0001\n";

  @TempDir Path folder;

  private Configuration tez() {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.framework.name", "yarn-tez");
    conf.set("tez.simple.history.logging.dir", folder.toUri().toString());
    conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    return conf;
  }

  @Test
  void otherFrameworksHaveNone() {
    Configuration conf = tez();
    assertTrue(DagHistory.isWritten(conf));
    conf.set("mapreduce.framework.name", "yarn");
    assertFalse(DagHistory.isWritten(conf));
  }

  @Test
  void theCountersOfTheNewestAttemptThatEnded() throws IOException, InterruptedException {
    write("history.txt.appattempt_17_0004_000001", STARTED);
    write("history.txt.appattempt_17_0004_000002", STARTED + FINISHED);
    write("history.txt.appattempt_17_0005_000001", STARTED);
    Counters counters = DagHistory.counters(tez(), new JobID("17", 4));
    assertEquals(7, counters.findCounter("org.assay.Some", "CHANGED").getValue());
  }

  @Test
  void aRecordThatIsStillBeingWrittenIsNoEnd() throws IOException {
    assertNull(DagHistory.dagEnd(STARTED + FINISHED.substring(0, FINISHED.length() - 2)));
  }

  @Test
  void garbageIsRefused() {
    assertThrows(IOException.class, () -> DagHistory.dagEnd("{DAG_FINISHED\u0001"));
  }

  private void write(String name, String text) throws IOException {
    Files.write(folder.resolve(name), text.getBytes(StandardCharsets.UTF_8));
  }
}

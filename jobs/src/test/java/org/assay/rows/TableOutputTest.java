package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;

class TableOutputTest {
  @Test
  void recordsAreWrittenAsHadoopsFormatOfTextWritesThem() throws Exception {
    List<Object[]> records =
        List.of(
            new Object[] {new Text("ä"), new LongWritable(7)},
            new Object[] {NullWritable.get(), new Text("b\tc")},
            new Object[] {new Text("d"), NullWritable.get()},
            new Object[] {new Text(""), new Text("")},
            new Object[] {null, null});
    List<String> written = new ArrayList<>();
    LineWriter writer =
        new LineWriter() {
          @Override
          public void write(byte[] bytes, int offset, int length) {
            written.add(
                new Text(new String(bytes, offset, length, StandardCharsets.UTF_8)).toString());
          }

          @Override
          public void close() {
            written.add("closed");
          }
        };
    TableOutput.LineRecords<Object, Object> lines =
        new TableOutput.LineRecords<>(writer, () -> written.add("ended"));
    for (Object[] record : records) {
      lines.write(record[0], record[1]);
    }
    lines.close(null);
    assertEquals(List.of("ä\t7", "b\tc", "d", "\t", "closed", "ended"), written);
  }

  @Test
  void noTaskThatPutsRunsTwiceAtOnce() throws Exception {
    Job job = Job.getInstance(new Configuration(false));
    job.setNumReduceTasks(3);
    TableOutput.forbidTwins(job);
    assertTrue(!job.getConfiguration().getBoolean("mapreduce.reduce.speculative", true));
    assertTrue(job.getConfiguration().getBoolean("mapreduce.map.speculative", true));
    job.setNumReduceTasks(0);
    TableOutput.forbidTwins(job);
    assertTrue(!job.getConfiguration().getBoolean("mapreduce.map.speculative", true));
  }
}

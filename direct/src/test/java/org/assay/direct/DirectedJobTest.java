package org.assay.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job's intermediate data lie in its tier, or elsewhere where that is full; all is put out. */
class DirectedJobTest {
  private static final int LINES = 40_000;

  /** The tiers in which files lay while reducers ran. */
  private static final Set<String> SEEN = new ConcurrentSkipListSet<>();

  @TempDir Path folder;
  private final Configuration conf = new Configuration();

  /** Passes lines on and looks where files of maps and reducers lie. */
  public static final class Looking extends Reducer<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void setup(Context context) throws IOException {
      for (String root : context.getConfiguration().getStrings("test.roots")) {
        try (Stream<Path> files = Files.walk(Paths.get(root))) {
          if (files.anyMatch(file -> file.toString().endsWith(".out"))) {
            SEEN.add(Paths.get(root).getFileName().toString());
          }
        }
      }
    }
  }

  @BeforeEach
  void configured() throws IOException {
    SEEN.clear();
    String ssd = Files.createDirectories(folder.resolve("ssd")).toString();
    String disk = Files.createDirectories(folder.resolve("disk")).toString();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", Paths.get("target", "hadoop-tmp").toAbsolutePath().toString());
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", 5);
    conf.setInt("mapreduce.task.io.sort.mb", 1);
    // Nothing fits into a reducer's memory, so that it writes what it fetches.
    conf.set("mapreduce.reduce.shuffle.memory.limit.percent", "0.00001");
    conf.setStrings(Direct.LOCAL_DIRECTORIES, ssd, disk);
    conf.setStrings("test.roots", ssd, disk);
    conf.set(Tiers.DIRECTORIES, "[SSD]" + ssd + ",[DISK]" + disk);
    conf.set(Tiers.FULL, "1.0");
    conf.set("mapreduce.job.map.output.collector.class", MapOutput.class.getName());
    conf.set("mapreduce.job.reduce.shuffle.consumer.plugin.class", ReduceShuffle.class.getName());
  }

  private Job run() throws Exception {
    Path input = folder.resolve("input");
    Stream<String> lines = Stream.iterate(0, n -> n + 1).limit(LINES).map(String::valueOf);
    Files.write(input, lines.collect(Collectors.toList()));
    Job job = Job.getInstance(conf);
    job.setReducerClass(Looking.class);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toString()));
    FileOutputFormat.setOutputPath(
        job, new org.apache.hadoop.fs.Path(folder.resolve("output").toString()));
    assertTrue(job.waitForCompletion(false));
    assertEquals(LINES, Files.readAllLines(folder.resolve("output/part-r-00000")).size());
    return job;
  }

  private static long count(Job job, Outcome outcome) throws IOException {
    return job.getCounters().findCounter(Direct.COUNTERS, outcome.name()).getValue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ssd", "disk"})
  void filesLieInTheTierThatTheJobNames(String tier) throws Exception {
    conf.set(Direct.TIER, tier);
    assertEquals(2, count(run(), Outcome.DIRECTED));
    assertEquals(Collections.singleton(tier), SEEN);
  }

  @Test
  void fullTierIsLeftToOthersAndTheJobSucceeds() throws Exception {
    conf.set(Direct.TIER, "ssd");
    conf.set(Tiers.DIRECTORIES, "[SSD]" + folder.resolve("ssd"));
    conf.set(Tiers.FULL, "0");
    Job job = run();
    assertEquals(2, count(job, Outcome.OVERFLOW_FULL));
    assertEquals(0, count(job, Outcome.DIRECTED));
    assertEquals(Collections.singleton("disk"), SEEN);
  }

  /** One directory: of several, local jobs look for a map's index where its output is, and fail. */
  @Test
  void jobWithoutTierIsNotTouched() throws Exception {
    conf.setStrings(Direct.LOCAL_DIRECTORIES, folder.resolve("ssd").toString());
    Job job = run();
    for (Outcome outcome : Outcome.values()) {
      assertEquals(0, count(job, outcome), outcome.name());
    }
  }
}

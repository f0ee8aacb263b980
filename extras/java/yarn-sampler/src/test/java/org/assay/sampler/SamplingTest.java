package org.assay.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Proves what one sampler keeps, when it ends, and how its clock is compared. */
class SamplingTest {
  @TempDir Path home;
  private FileSystem store;
  private org.apache.hadoop.fs.Path folder;

  @BeforeEach
  void open() throws IOException {
    store = FileSystem.getLocal(new Configuration());
    folder = new org.apache.hadoop.fs.Path(home.toString(), "store");
    store.mkdirs(folder);
  }

  @Test
  void readingsHaveTheLinesThatAreWantedAndPartsMakeOneText() throws IOException {
    write("proc/stat", "cpu  1 2 3\ncpu0 1 2 3\nintr 5 5 5\nctxt 9\n");
    write("proc/net/dev", "  eth0: 7\n");
    Files.createDirectories(home.resolve("sys/block/sda/device"));
    Files.createDirectories(home.resolve("sys/block/loop0/queue"));
    Files.createDirectories(home.resolve("sys/class/net/bond0/lower_em1"));
    Files.createDirectories(home.resolve("sys/class/net/bond0/queues"));
    Readings readings = new Readings(home, new OwnClock());
    readings.read();
    ByteArrayOutputStream parts = new ByteArrayOutputStream();
    parts.write(readings.take());
    readings.read();
    parts.write(readings.take());
    String text = unzipped(parts.toByteArray());
    assertTrue(
        text.matches(
            "@devices /sys/block/sda/device /sys/class/net/bond0 /sys/class/net/bond0/lower_em1\n"
                + "(@ - \\d+\\.\\d{6}\n/proc/stat:cpu  1 2 3\n/proc/stat:ctxt 9\n"
                + "/proc/net/dev:  eth0: 7\n@end\n){2}"),
        text);
  }

  @Test
  void theMarkHoldsUntilItIsRemovedOrNobodyRenewsIt() throws Exception {
    Mark mark = new Mark(store, folder, 300);
    assertEquals(Mark.State.ENDED, mark.state());
    mark.make();
    assertEquals(Mark.State.HELD, mark.state());
    for (int turn = 0; turn < 5; turn++) {
      Thread.sleep(100);
      mark.renew();
      assertEquals(Mark.State.HELD, mark.state());
    }
    Thread.sleep(500);
    assertEquals(Mark.State.LOST, mark.state());
    mark.remove();
    assertEquals(Mark.State.ENDED, mark.state());
  }

  @Test
  void theLastReadingsAreLaterThanTheEndOfTheSampling() throws Exception {
    Mark mark = new Mark(store, folder);
    mark.make();
    Sampler sampler = new Sampler(new Configuration(), folder, "worker-1");
    FutureTask<Integer> code = new FutureTask<>(() -> sampler.run(1000, 10));
    new Thread(code).start();
    while (!store.exists(new org.apache.hadoop.fs.Path(folder, "running/worker-1"))) {
      Thread.sleep(10);
    }
    Thread.sleep(300); // the sampler has read once, and sleeps
    OwnClock clock = new OwnClock();
    mark.remove();
    double removed = clock.seconds();
    assertEquals(0, code.get(30, TimeUnit.SECONDS));
    String text = unzipped(Files.readAllBytes(home.resolve("store/worker-1.readings-0000")));
    long after =
        Pattern.compile("^@ - (\\S+)$", Pattern.MULTILINE)
            .matcher(text)
            .results()
            .filter(found -> Double.parseDouble(found.group(1)) > removed)
            .count();
    assertTrue(after >= 2, text);
  }

  @Test
  void theClockIsComparedAndLeavesNothing() throws IOException {
    List<String> words =
        List.of(StoreClock.compare(store, folder, new OwnClock()).line().split(" ", -1));
    assertEquals("@clock", words.get(0));
    double uncertainty = Double.parseDouble(words.get(2));
    assertTrue(Math.abs(Double.parseDouble(words.get(1))) <= uncertainty + 0.01, words.toString());
    assertTrue(uncertainty < 1);
    assertFalse(store.listStatus(folder).length > 0);
  }

  private void write(String name, String text) throws IOException {
    Path file = home.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static String unzipped(byte[] content) throws IOException {
    try (GZIPInputStream stream = new GZIPInputStream(new ByteArrayInputStream(content))) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

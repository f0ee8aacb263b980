package org.assay.sampler;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Reads one node's counters until the client ends the sampling, and then writes them into the
 * application's folder. Without a client for {@link Mark#PATIENCE_MS} it ends and writes nothing.
 */
public final class Sampler {
  /** More is written out while the sampling goes on. */
  private static final int MOST_BYTES = 8 << 20;

  /**
   * Readings after the sampling's end is known. The first is later than the end of the trial's last
   * part; the second is so even where the clocks were compared with an error of up to an interval.
   */
  private static final int LAST_READINGS = 2;

  private final FileSystem store;
  private final Path folder;
  private final String host;
  private final OwnClock clock = new OwnClock();
  private final Readings readings = new Readings(java.nio.file.Path.of("/"), clock);
  private int parts;

  Sampler(Configuration conf, Path folder, String host) throws IOException {
    this.store = folder.getFileSystem(conf);
    this.folder = folder;
    this.host = host;
  }

  /**
   * Arguments: the application's folder, this node's name, milliseconds between readings, and
   * between looks at the mark.
   */
  public static void main(String[] args) throws Exception {
    Sampler sampler = new Sampler(new YarnConfiguration(), new Path(args[0]), args[1]);
    System.exit(sampler.run(Long.parseLong(args[2]), Long.parseLong(args[3])));
  }

  /** Samples until the end; the process' exit code. */
  int run(long intervalMs, long lookMs) throws IOException, InterruptedException {
    compareClocks();
    store.mkdirs(new Path(folder, SamplerClient.RUNNING + "/" + host));
    Watcher watcher = new Watcher(new Mark(store, folder), lookMs);
    watcher.start();
    long began = System.nanoTime();
    readings.read();
    int last = 0;
    while (last < LAST_READINGS) {
      long goneMs = (System.nanoTime() - began) / 1_000_000;
      Thread.sleep(intervalMs - goneMs % intervalMs); // one that is late is not made up for
      if (watcher.state() != Mark.State.HELD) {
        last++;
      }
      readings.read();
      if (readings.size() > MOST_BYTES) {
        write();
      }
    }
    if (watcher.state() == Mark.State.LOST) {
      return 1;
    }
    compareClocks();
    write();
    return 0;
  }

  private void compareClocks() throws IOException {
    Path own = new Path(folder, "clock-of-" + host);
    readings.addLine(StoreClock.compare(store, own, clock).line());
    store.delete(own, true);
  }

  private void write() throws IOException {
    String name = String.format(Locale.ROOT, "%s%s%04d", host, SamplerClient.READINGS, parts++);
    Path file = new Path(folder, name);
    try (OutputStream out = store.create(file, true)) {
      out.write(readings.take());
    }
  }

  /** Looks at the mark now and then, so that a slow store delays no reading. */
  private static final class Watcher extends Thread {
    private final Mark mark;
    private final long lookMs;
    private volatile Mark.State state = Mark.State.HELD;

    Watcher(Mark mark, long lookMs) {
      super("watcher");
      setDaemon(true);
      this.mark = mark;
      this.lookMs = lookMs;
    }

    Mark.State state() {
      return state;
    }

    @Override
    public void run() {
      try {
        while (state == Mark.State.HELD) {
          state = mark.state();
          Thread.sleep(lookMs);
        }
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

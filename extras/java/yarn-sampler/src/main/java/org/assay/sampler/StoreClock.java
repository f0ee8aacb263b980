package org.assay.sampler;

import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * By how much this process' clock is ahead of the store's, which all of them can ask: the time of a
 * new directory is the NameNode's, of some moment between the request and the answer.
 */
final class StoreClock {
  private static final int COMPARISONS = 4;

  /** The store keeps milliseconds, without what is left of them. */
  private static final double STEP_S = 0.0005;

  private final double offsetS;
  private final double uncertaintyS;

  private StoreClock(double offsetS, double uncertaintyS) {
    this.offsetS = offsetS;
    this.uncertaintyS = uncertaintyS;
  }

  /** Compares several times; the shortest round trip counts. */
  static StoreClock compare(FileSystem store, Path folder, OwnClock own) throws IOException {
    StoreClock best = null;
    for (int number = 0; number < COMPARISONS; number++) {
      Path directory = new Path(folder, "clock-" + number);
      double sent = own.seconds();
      store.mkdirs(directory);
      double received = own.seconds();
      double there = store.getFileStatus(directory).getModificationTime() / 1000.0 + STEP_S;
      store.delete(directory, true);
      double uncertainty = (received - sent) / 2 + STEP_S;
      if (best == null || uncertainty < best.uncertaintyS) {
        best = new StoreClock((sent + received) / 2 - there, uncertainty);
      }
    }
    return best;
  }

  /** As a line: seconds and their uncertainty. */
  String line() {
    return String.format(Locale.ROOT, "@clock %.6f %.6f", offsetS, uncertaintyS);
  }
}

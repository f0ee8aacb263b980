package org.assay.sampler;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file that says that the sampling goes on: the client renews it, and removes it at the end. Only
 * the change of its time counts, which needs no agreement of clocks.
 */
final class Mark {
  /** How the sampling stands. */
  enum State {
    /** It goes on. */
    HELD,
    /** The client has ended it. */
    ENDED,
    /** Nobody has renewed the mark for long: the client is gone. */
    LOST
  }

  /** Between two renewals. */
  static final long RENEWAL_MS = 10_000;

  /** After that the client counts as gone. */
  static final long PATIENCE_MS = 90_000;

  private final FileSystem store;
  private final Path file;
  private final long patienceNs;
  private long seenTime = -1;
  private long seenAtNs = System.nanoTime();

  Mark(FileSystem store, Path folder) {
    this(store, folder, PATIENCE_MS);
  }

  Mark(FileSystem store, Path folder, long patienceMs) {
    this.store = store;
    this.file = new Path(folder, "alive");
    this.patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
  }

  /** Makes it. */
  void make() throws IOException {
    store.create(file, false).close();
  }

  /** Renews it. */
  void renew() throws IOException {
    store.setTimes(file, System.currentTimeMillis(), -1);
  }

  /** Ends the sampling. */
  void remove() throws IOException {
    store.delete(file, false);
  }

  /** How the sampling stands now; a store that does not answer says nothing. */
  State state() {
    try {
      long time = store.getFileStatus(file).getModificationTime();
      if (time != seenTime) {
        seenTime = time;
        seenAtNs = System.nanoTime();
      }
    } catch (FileNotFoundException gone) {
      return State.ENDED;
    } catch (IOException away) {
      return silent();
    }
    return silent();
  }

  private State silent() {
    return System.nanoTime() - seenAtNs > patienceNs ? State.LOST : State.HELD;
  }
}

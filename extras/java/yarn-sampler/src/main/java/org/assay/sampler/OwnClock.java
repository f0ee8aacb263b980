package org.assay.sampler;

import java.time.Instant;

/** Seconds since the epoch that never jump: the time when it was made, and what has gone since. */
final class OwnClock {
  private final Instant began = Instant.now();
  private final long beganNs = System.nanoTime();

  /** Now. */
  double seconds() {
    return began.getEpochSecond() + began.getNano() / 1e9 + (System.nanoTime() - beganNs) / 1e9;
  }
}

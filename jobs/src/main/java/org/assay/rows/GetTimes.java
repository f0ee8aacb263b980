package org.assay.rows;

import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * Buckets of the times that single gets take, by which tasks count them: ten for each factor of ten
 * from 10 microseconds to 100 seconds, one for what takes longer, and the first from 0 on.
 */
final class GetTimes {
  /** The group of the counters, which have the names of the buckets. */
  static final String GROUP = "org.assay.rows.GetTimes";

  static final String LONGER = "longer";

  private static final long US_NS = 1000;

  /** The longest time of each bucket, in whole microseconds. */
  private static final long[] MOST_US =
      LongStream.rangeClosed(10, 80)
          .map(tenths -> Math.round(Math.pow(10, tenths / 10.0)))
          .toArray();

  private GetTimes() {}

  /** The bucket of a time: the first whose longest time is at least that. */
  static String bucket(long ns) {
    int found = Arrays.binarySearch(MOST_US, (ns + US_NS - 1) / US_NS);
    int at = found < 0 ? -found - 1 : found;
    return at == MOST_US.length ? LONGER : "at_most_" + MOST_US[at] + "_us";
  }
}

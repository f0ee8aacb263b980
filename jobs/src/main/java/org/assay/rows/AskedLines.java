package org.assay.rows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.InputSplit;

/**
 * The lines that a job says that it reads, by their numbers: its list has a line {@code number} or
 * {@code first-last} for each entry. All entries are held, and all keys in the splits.
 */
public final class AskedLines {
  /** The path of the list; a job that says nothing reads all lines. */
  static final String READ_BY_JOB = "assay.input.rows";

  /** With fewer lines a further task takes longer to start than it saves. */
  static final int LEAST_LINES = 100;

  /** The first and the last line of each entry. */
  private final List<long[]> entries = new ArrayList<>();

  private long lines;

  /** Reads a job's list. */
  public AskedLines(Configuration job) throws IOException {
    Path path = new Path(job.get(READ_BY_JOB));
    try (BufferedReader list =
        new BufferedReader(
            new InputStreamReader(path.getFileSystem(job).open(path), StandardCharsets.UTF_8))) {
      for (String entry = list.readLine(); entry != null; entry = list.readLine()) {
        int dash = entry.indexOf('-');
        long first = Long.parseLong(dash < 0 ? entry : entry.substring(0, dash));
        long last = Long.parseLong(entry.substring(dash + 1));
        entries.add(new long[] {first, last});
        lines += last - first + 1;
      }
    }
  }

  /** Whether a job says which lines it reads. */
  public static boolean areSaid(Configuration job) {
    return !job.getTrimmed(READ_BY_JOB, "").isEmpty();
  }

  /**
   * Shares the lines among tasks, at most {@code most} of them, in the order of the list.
   *
   * @param rest whether lines are wanted with what follows the columns that are apart
   * @throws IOException where the table has no line with a number that is asked for
   */
  public List<InputSplit> splits(String table, LinePlaces places, boolean rest, int most)
      throws IOException {
    long tasks = Math.max(1, Math.min(most, lines / LEAST_LINES));
    List<InputSplit> splits = new ArrayList<>();
    List<RowSplit.Part> parts = new ArrayList<>();
    long rows = 0;
    long bytes = 0;
    long passed = 0;
    for (long[] entry : entries) {
      if (entry[1] >= places.lines()) {
        throw new IOException(
            "table "
                + table
                + " has "
                + places.lines()
                + " lines, counted from 0, and line "
                + entry[1]
                + " is asked for; ask for lines that are there");
      }
      for (RegionRows.Range range : places.ranges(entry[0], entry[1])) {
        byte[] stop = range.rows == 1 ? range.start : range.stop;
        parts.add(new RowSplit.Part(range.start, stop));
        rows += range.rows;
        bytes += range.bytes;
        long before = passed;
        passed += range.rows;
        if (passed * tasks / lines > before * tasks / lines) {
          splits.add(new RowSplit(table, parts, new String[0], rows, bytes, rest));
          parts.clear();
          rows = 0;
          bytes = 0;
        }
      }
    }
    return splits;
  }
}

package org.assay.hbase;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The lines that a job says that it reads, by their numbers, in the order of its list: a line
 * {@code number} or {@code first-last} for each entry.
 */
final class AskedLines implements Closeable {
  /** The path of the list; a job that says nothing reads all lines. */
  static final String READ_BY_JOB = "assay.input.rows";

  private final BufferedReader list;
  private long first;
  private long last;

  /** Before the first entry of a job's list. */
  AskedLines(Configuration job) throws IOException {
    Path path = new Path(job.get(READ_BY_JOB));
    list =
        new BufferedReader(
            new InputStreamReader(path.getFileSystem(job).open(path), StandardCharsets.UTF_8));
  }

  /** Whether a job says which lines it reads. */
  static boolean areSaid(Configuration job) {
    return !job.getTrimmed(READ_BY_JOB, "").isEmpty();
  }

  /** Goes to the next entry; false where there is none. */
  boolean next() throws IOException {
    String entry = list.readLine();
    if (entry == null) {
      return false;
    }
    int dash = entry.indexOf('-');
    first = Long.parseLong(dash < 0 ? entry : entry.substring(0, dash));
    last = Long.parseLong(entry.substring(dash + 1));
    return true;
  }

  /** The number of the entry's first line. */
  long first() {
    return first;
  }

  /** The number of the entry's last line. */
  long last() {
    return last;
  }

  @Override
  public void close() throws IOException {
    list.close();
  }
}

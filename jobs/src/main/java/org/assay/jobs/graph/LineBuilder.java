package org.assay.jobs.graph;

import java.util.Arrays;
import org.apache.hadoop.io.Text;

/** Builds an ASCII line of numbers and separators in a buffer that is used again for each line. */
public final class LineBuilder {
  private static final int LONGEST_ID = 19;

  private final Text text = new Text();
  private final byte[] digits = new byte[LONGEST_ID];
  private byte[] bytes = new byte[256];
  private int length;

  /** Forgets the line. */
  public LineBuilder clear() {
    length = 0;
    return this;
  }

  public int length() {
    return length;
  }

  /**
   * Cuts the line to its first {@code newLength} bytes, to write another end after the same
   * beginning.
   */
  public LineBuilder truncate(int newLength) {
    length = newLength;
    return this;
  }

  /** Appends one ASCII character. */
  public LineBuilder put(char character) {
    reserve(1);
    bytes[length++] = (byte) character;
    return this;
  }

  /** Appends a number that isn't negative. */
  public LineBuilder put(long id) {
    reserve(LONGEST_ID);
    int start = LONGEST_ID;
    long rest = id;
    do {
      long tenth = rest / 10;
      digits[--start] = (byte) ('0' + (rest - tenth * 10));
      rest = tenth;
    } while (rest != 0);
    int count = LONGEST_ID - start;
    System.arraycopy(digits, start, bytes, length, count);
    length += count;
    return this;
  }

  /** Appends all numbers of a list with a separator between them. */
  public LineBuilder put(IdList ids, char separator) {
    for (int i = 0; i < ids.size(); i++) {
      if (i > 0) {
        put(separator);
      }
      put(ids.get(i));
    }
    return this;
  }

  /** The line, valid until the next call of this method. */
  public Text text() {
    text.set(bytes, 0, length);
    return text;
  }

  private void reserve(int more) {
    if (length > bytes.length - more) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }
}

package org.assay.jobs.graph;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;

/**
 * Reads vertex numbers from the bytes of a line, without making a string of them. Numbers are
 * decimal, from 0 to 2^63-1, and stand apart by one or more separators.
 */
public final class IdScanner implements Serializable {
  private static final long LARGEST_TENTH = Long.MAX_VALUE / 10;

  private final boolean[] separators = new boolean[256];
  private byte[] bytes = new byte[0];
  private int position;
  private int end;

  /** A scanner for which each of these ASCII characters separates numbers. */
  public IdScanner(String separators) {
    for (int i = 0; i < separators.length(); i++) {
      this.separators[separators.charAt(i)] = true;
    }
  }

  /** Starts at the beginning of a line, whose bytes must not change while it is read. */
  public void reset(Text line) {
    bytes = line.getBytes();
    end = line.getLength();
    position = 0;
  }

  /** Moves past separators and tells whether anything follows. */
  public boolean hasNext() {
    while (position < end && separators[bytes[position] & 0xff]) {
      position++;
    }
    return position < end;
  }

  /** The first byte of what {@link #hasNext} found. */
  public byte peek() {
    return bytes[position];
  }

  /** Moves past this character if it is the first of what {@link #hasNext} found. */
  public boolean pass(char character) {
    boolean found = bytes[position] == character;
    position += found ? 1 : 0;
    return found;
  }

  /**
   * The next number; {@link #hasNext} must have been asked before.
   *
   * @throws MalformedLineException if what follows isn't a vertex number
   */
  public long next() throws MalformedLineException {
    int start = position;
    long id = 0;
    while (position < end && !separators[bytes[position] & 0xff]) {
      int digit = bytes[position] - '0';
      if (digit < 0 || digit > 9 || id > LARGEST_TENTH) {
        throw malformed(start);
      }
      id = id * 10 + digit;
      if (id < 0) {
        throw malformed(start);
      }
      position++;
    }
    if (position == start) {
      throw malformed(start);
    }
    return id;
  }

  private MalformedLineException malformed(int start) {
    int stop = start;
    while (stop < end && !separators[bytes[stop] & 0xff]) {
      stop++;
    }
    String field = new String(bytes, start, stop - start, StandardCharsets.UTF_8);
    return new MalformedLineException(
        MalformedLineException.quote(field)
            + " is not a vertex number (a decimal integer from 0 to 9223372036854775807)");
  }
}

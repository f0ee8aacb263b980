package org.assay.jobs.kmeans;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.MalformedLineException;

/**
 * Reads the coordinates of a point from the bytes of a line. They are decimal numbers, with a
 * fraction and an exponent where wanted, and stand apart by commas, tabs or spaces. Each becomes
 * the double that is nearest to it.
 */
public final class PointScanner implements Serializable {
  static final int MOST_DIMENSIONS = 1 << 16;

  private static final String ATTRIBUTES = "assay.k-means.attributes";
  private static final int SHORT_DIGITS = 15;
  private static final double[] TENS = new double[SHORT_DIGITS + 1];

  static {
    TENS[0] = 1;
    for (int i = 1; i < TENS.length; i++) {
      TENS[i] = TENS[i - 1] * 10;
    }
  }

  private final int wanted;
  private double[] coordinates = new double[16];
  private int dimensions;
  private byte[] bytes = new byte[0];
  private int position;
  private int end;

  /** Of points whose coordinates are all the numbers of their lines. */
  PointScanner() {
    this(0);
  }

  /**
   * Of points whose coordinates are the first numbers of their lines.
   *
   * @param wanted how many of them; 0 for all
   */
  public PointScanner(int wanted) {
    this.wanted = wanted;
  }

  /** Of a job's points, as {@link #attributes} has said. */
  static PointScanner of(Configuration conf) {
    return new PointScanner(conf.getInt(ATTRIBUTES, 0));
  }

  /** Says how many of a line's numbers are the coordinates of a job's points; 0 for all. */
  static void attributes(Configuration conf, int wanted) {
    conf.setInt(ATTRIBUTES, wanted);
  }

  /**
   * Reads a line, as far as its coordinates go.
   *
   * @return the number of coordinates, 0 for a blank line
   * @throws MalformedLineException if a coordinate isn't a finite number
   */
  public int read(Text line) throws MalformedLineException {
    bytes = line.getBytes();
    end = line.getLength();
    position = 0;
    dimensions = 0;
    while ((wanted == 0 || dimensions < wanted) && hasNext()) {
      add(next());
    }
    return dimensions;
  }

  /**
   * The coordinates of the line; those after the number that {@link #read} told are of no meaning.
   */
  public double[] coordinates() {
    return coordinates;
  }

  private void add(double value) throws MalformedLineException {
    if (dimensions == coordinates.length) {
      if (dimensions == MOST_DIMENSIONS) {
        throw new MalformedLineException("a point has more than " + MOST_DIMENSIONS + " numbers");
      }
      coordinates = Arrays.copyOf(coordinates, 2 * dimensions);
    }
    coordinates[dimensions++] = value;
  }

  private boolean hasNext() {
    while (position < end && isSeparator(bytes[position])) {
      position++;
    }
    return position < end;
  }

  private static boolean isSeparator(byte character) {
    return character == ',' || character == '\t' || character == ' ' || character == '\r';
  }

  /**
   * The next number. With at most 15 digits and no exponent both its digits and the power of ten
   * are exact doubles, so that one division rounds once and right.
   */
  private double next() throws MalformedLineException {
    int start = position;
    boolean negative = bytes[position] == '-';
    int at = negative ? position + 1 : position;
    long digits = 0;
    int count = 0;
    int fraction = 0;
    boolean pointSeen = false;
    for (; at < end && !isSeparator(bytes[at]); at++) {
      int digit = bytes[at] - '0';
      if (digit >= 0 && digit <= 9) {
        digits = digits * 10 + digit;
        count++;
        fraction += pointSeen ? 1 : 0;
      } else if (bytes[at] == '.' && !pointSeen) {
        pointSeen = true;
      } else {
        count = 0;
        break;
      }
      if (count > SHORT_DIGITS) {
        break;
      }
    }
    if (count == 0 || count > SHORT_DIGITS) {
      return nextOfAnyForm(start);
    }
    position = at;
    double value = digits / TENS[fraction];
    return negative ? -value : value;
  }

  private double nextOfAnyForm(int start) throws MalformedLineException {
    int stop = start;
    while (stop < end && !isSeparator(bytes[stop])) {
      stop++;
    }
    position = stop;
    String field = new String(bytes, start, stop - start, StandardCharsets.UTF_8);
    double value = Double.NaN;
    // The parser takes more than decimal numbers: hexadecimal ones, a suffix, names of infinity.
    if (field.matches("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?")) {
      value = Double.parseDouble(field);
    }
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw new MalformedLineException(
          MalformedLineException.quote(field)
              + " is not a finite decimal number, in "
              + MalformedLineException.quote(new String(bytes, 0, end, StandardCharsets.UTF_8)));
    }
    return value;
  }
}

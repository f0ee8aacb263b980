package org.assay.spark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.SortedMap;
import java.util.StringTokenizer;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Points of k-means: their text, and the nearest of several centres. */
final class Points {
  /** Squared distances that differ by less than this share are a tie. */
  private static final double TIE = 1e-12;

  private static final String SEPARATORS = ",\t \r";
  private static final String DIGITS = "0123456789+-.eE";

  private Points() {}

  /**
   * Reads the coordinates of a line: decimal numbers apart by commas, tabs or spaces.
   *
   * @param attributes how many of them, from the left; 0 for all
   * @return none for a blank line
   */
  static double[] read(String line, int attributes) {
    StringTokenizer fields = new StringTokenizer(line, SEPARATORS);
    int given = fields.countTokens();
    double[] point = new double[attributes == 0 ? given : Math.min(attributes, given)];
    for (int i = 0; i < point.length; i++) {
      point[i] = number(fields.nextToken(), line);
    }
    return point;
  }

  private static double number(String field, String line) {
    // Java's parser takes more than decimal numbers: hexadecimal ones, a suffix, infinity.
    if (field.chars().allMatch(character -> DIGITS.indexOf(character) >= 0)) {
      try {
        double value = Double.parseDouble(field);
        if (Double.isFinite(value)) {
          return value;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
    }
    throw BadLineException.of(line, "a point (finite decimal numbers)");
  }

  /**
   * The index of the nearest centre by Euclidean distance; of several that are equally near, the
   * lowest.
   */
  static int nearest(double[] point, double[][] centres) {
    if (point.length != centres[0].length) {
      throw new BadLineException(
          "a point has "
              + point.length
              + " coordinates, and the centres have "
              + centres[0].length);
    }
    double[] squares = new double[centres.length];
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < centres.length; i++) {
      squares[i] = square(point, centres[i]);
      least = Math.min(least, squares[i]);
    }
    double near = least * (1 + TIE);
    if (Double.isInfinite(near)) {
      throw new BadLineException(
          "a point is too far from all centres: the squared distances are beyond a double");
    }
    int index = 0;
    while (squares[index] > near) {
      index++;
    }
    return index;
  }

  private static double square(double[] point, double[] centre) {
    double square = 0;
    for (int i = 0; i < centre.length; i++) {
      double difference = point[i] - centre[i];
      square += difference * difference;
    }
    return square;
  }

  /** Reads centres from a file or a directory of lines {@code index<TAB>points<TAB>x1,x2,...}. */
  static double[][] centres(Configuration conf, String given) throws IOException, UsageException {
    Path path = new Path(given);
    FileSystem files = path.getFileSystem(conf);
    if (!files.exists(path)) {
      throw new UsageException("centres " + given + " does not exist; give a file with centres");
    }
    SortedMap<Integer, double[]> centres = new TreeMap<>();
    for (FileStatus file : files.listStatus(path)) {
      if (!file.getPath().getName().startsWith("_")) {
        try (BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(files.open(file.getPath()), StandardCharsets.UTF_8))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", 3);
            if (fields.length != 3 || !fields[0].matches("\\d{1,9}")) {
              throw new UsageException(
                  "centres " + given + " have a line that is not `index<TAB>points<TAB>x1,x2,...`");
            }
            centres.put(Integer.parseInt(fields[0]), read(fields[2], 0));
          }
        }
      }
    }
    requireWhole(given, centres);
    return centres.values().toArray(new double[0][]);
  }

  private static void requireWhole(String given, SortedMap<Integer, double[]> centres)
      throws UsageException {
    boolean numbered = !centres.isEmpty() && centres.lastKey() == centres.size() - 1;
    if (!numbered
        || centres.values().stream().mapToInt(centre -> centre.length).distinct().count() != 1) {
      throw new UsageException(
          "centres " + given + " must have indices from 0 on and equally many coordinates");
    }
  }

  /** The line of a centre; reading it gives the same doubles. */
  static String line(int index, long points, double[] centre) {
    StringBuilder line = new StringBuilder();
    line.append(index).append('\t').append(points);
    for (int i = 0; i < centre.length; i++) {
      line.append(i == 0 ? '\t' : ',').append(centre[i]);
    }
    return line.toString();
  }
}

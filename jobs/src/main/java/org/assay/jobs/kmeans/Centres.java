package org.assay.jobs.kmeans;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.graph.LineForm;
import org.assay.jobs.graph.MalformedLineException;

/**
 * The k centres, as the tasks of a job read them from the store. They serve one thread at a time.
 *
 * <p>Their directory has a line {@code index<TAB>points<TAB>x1,x2,...} per centre, in any order.
 */
public final class Centres implements Serializable {
  /** Squared distances that differ by less than this share are a tie. */
  static final double TIE = 1e-12;

  private static final String DIRECTORY = "assay.k-means.centres";

  private final double[][] centres;
  private final double[] squares;

  /** Centres by their indices, with equally many coordinates. */
  public Centres(double[][] centres) {
    this.centres = centres;
    this.squares = new double[centres.length];
  }

  /** Tells a job's tasks where the centres are. */
  static void use(Configuration conf, Path directory) {
    conf.set(DIRECTORY, directory.toString());
  }

  /** The centres that a job was told. */
  static Centres read(Configuration conf) throws IOException {
    return new Centres(numbered(conf, new Path(conf.get(DIRECTORY))));
  }

  /** The centres of a directory or a file of such lines. */
  private static double[][] numbered(Configuration conf, Path directory) throws IOException {
    List<String> lines = new ArrayList<>();
    for (FileStatus status : directory.getFileSystem(conf).listStatus(directory)) {
      if (!status.getPath().getName().startsWith("_")) {
        lines.addAll(lines(conf, status.getPath()));
      }
    }
    double[][] centres = new double[lines.size()][];
    for (String line : lines) {
      String[] fields = line.split("\t", 3);
      int index =
          fields.length == 3 && fields[0].matches("\\d{1,9}") ? Integer.parseInt(fields[0]) : -1;
      if (index < 0 || index >= centres.length || centres[index] != null) {
        throw new MalformedLineException(
            "centre "
                + MalformedLineException.quote(line)
                + " has no index of its own among "
                + centres.length
                + " centres");
      }
      centres[index] = coordinates(fields[2]);
    }
    return centres;
  }

  /**
   * A user's centres: a file, or a directory of files.
   *
   * @param numbered whether the lines have their indices, as above; else there is one point per
   *     line, and its index is the line's place, in the order of the files' names
   */
  public static Centres readGiven(Configuration conf, Path file, boolean numbered)
      throws IOException, UsageException {
    if (!file.getFileSystem(conf).exists(file)) {
      throw new UsageException(
          "centres " + file + " does not exist; give a file with a point per line");
    }
    List<double[]> centres;
    try {
      centres = numbered ? List.of(numbered(conf, file)) : inOrder(conf, file);
    } catch (MalformedLineException e) {
      throw new UsageException("centres " + file + " cannot be read: " + e.getMessage());
    }
    for (double[] centre : centres) {
      if (centre.length != centres.get(0).length) {
        throw new UsageException("centres " + file + " have unequal numbers of coordinates");
      }
    }
    if (centres.isEmpty()) {
      throw new UsageException("centres " + file + " is empty; give a file with a point per line");
    }
    return new Centres(centres.toArray(new double[0][]));
  }

  private static List<double[]> inOrder(Configuration conf, Path file) throws IOException {
    List<double[]> centres = new ArrayList<>();
    FileStatus[] parts = file.getFileSystem(conf).listStatus(file);
    Arrays.sort(parts);
    for (FileStatus part : parts) {
      for (String line : part.isFile() ? lines(conf, part.getPath()) : List.<String>of()) {
        double[] centre = coordinates(line);
        if (centre.length > 0) {
          centres.add(centre);
        }
      }
    }
    return centres;
  }

  /** What a line must be to be a point among these centres; blank lines are none and pass. */
  LineForm form(PointScanner scanner) {
    return line -> {
      int dimensions = scanner.read(line);
      if (dimensions > 0) {
        nearest(scanner.coordinates(), dimensions);
      }
    };
  }

  /** Writes them to a file of a directory that {@link #read} reads. */
  void write(Configuration conf, Path file) throws IOException {
    try (OutputStream out = file.getFileSystem(conf).create(file, false)) {
      for (int i = 0; i < centres.length; i++) {
        out.write((line(i, 0, centres[i]) + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  /** The line of a centre; reading it gives the same doubles. */
  public static String line(int index, long points, double[] centre) {
    StringBuilder line = new StringBuilder();
    line.append(index).append('\t').append(points);
    for (int i = 0; i < centre.length; i++) {
      line.append(i == 0 ? '\t' : ',').append(centre[i]);
    }
    return line.toString();
  }

  public int size() {
    return centres.length;
  }

  int dimensions() {
    return centres[0].length;
  }

  public double[] get(int index) {
    return centres[index];
  }

  /**
   * The index of the nearest centre by Euclidean distance; of several that are equally near, to a
   * share of {@link #TIE} of the squared distance, the lowest.
   *
   * @throws MalformedLineException if the point has another number of coordinates, or is so far
   *     from all centres that no squared distance is a finite double
   */
  public int nearest(double[] point, int pointDimensions) throws MalformedLineException {
    if (pointDimensions != dimensions()) {
      throw new MalformedLineException(
          "a point has "
              + pointDimensions
              + " coordinates, and the centres have "
              + dimensions()
              + "; all must have as many");
    }
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < centres.length; i++) {
      squares[i] = square(point, centres[i]);
      least = Math.min(least, squares[i]);
    }
    double near = least * (1 + TIE);
    if (Double.isInfinite(near)) {
      throw new MalformedLineException(
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

  private static double[] coordinates(String line) throws MalformedLineException {
    PointScanner scanner = new PointScanner();
    int dimensions = scanner.read(new Text(line));
    return Arrays.copyOf(scanner.coordinates(), dimensions);
  }

  private static List<String> lines(Configuration conf, Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(file.getFileSystem(conf).open(file), StandardCharsets.UTF_8))) {
      String line = reader.readLine();
      while (line != null) {
        lines.add(line);
        line = reader.readLine();
      }
    }
    return lines;
  }
}

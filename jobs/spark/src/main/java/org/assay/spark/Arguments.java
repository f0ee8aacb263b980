package org.assay.spark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** A command line after the command: properties, two paths, and long options. */
final class Arguments {
  private static final String REPORT = "report";

  private final Map<String, String> properties = new TreeMap<>();
  private final List<String> paths = new ArrayList<>();
  private final Map<String, String> options = new TreeMap<>();

  /**
   * Takes a command line apart.
   *
   * @param known names of the command's own options
   * @throws UsageException for an option that isn't known, or other than two paths
   */
  Arguments(List<String> given, Set<String> known) throws UsageException {
    Set<String> all = new TreeSet<>(known);
    all.add(REPORT);
    for (int i = 0; i < given.size(); i++) {
      String argument = given.get(i);
      if (argument.startsWith("-D")) {
        put(
            properties,
            argument.equals("-D") && i + 1 < given.size() ? given.get(++i) : argument.substring(2));
      } else if (!argument.startsWith("--")) {
        paths.add(argument);
      } else if (all.contains(nameOf(argument.substring(2)))) {
        boolean apart = argument.equals("--" + REPORT) && i + 1 < given.size();
        put(options, argument.substring(2) + (apart ? "=" + given.get(++i) : ""));
      } else {
        throw new UsageException(
            "unknown option " + argument + "; known are --" + String.join(", --", all));
      }
    }
    if (paths.size() != 2) {
      throw new UsageException(
          "expected <input> <output>, got " + paths + "; --help has an example");
    }
  }

  private static String nameOf(String text) {
    int equals = text.indexOf('=');
    return equals < 0 ? text : text.substring(0, equals);
  }

  private static void put(Map<String, String> values, String text) {
    String name = nameOf(text);
    values.put(name, name.equals(text) ? "true" : text.substring(name.length() + 1));
  }

  /**
   * The properties given by {@code -D}: Spark's where they begin with {@code spark.}, else
   * Hadoop's.
   */
  Map<String, String> properties() {
    return properties;
  }

  String input() {
    return paths.get(0);
  }

  String output() {
    return paths.get(1);
  }

  /** The command's own options that were given. */
  Map<String, String> given() {
    Map<String, String> given = new TreeMap<>(options);
    given.remove(REPORT);
    return given;
  }

  /** The local file for the report; null without one. */
  Path report() throws UsageException {
    String given = options.get(REPORT);
    if (given == null) {
      return null;
    }
    Path file = Path.of(given).toAbsolutePath();
    if (file.getParent() == null
        || !Files.isWritable(file.getParent())
        || Files.isDirectory(file)) {
      throw new UsageException(
          "report " + given + " cannot be written; give a file in a local directory that exists");
    }
    return file;
  }

  String text(String name, String byDefault) {
    return options.getOrDefault(name, byDefault);
  }

  boolean has(String name) {
    return options.containsKey(name);
  }

  /** The value of an option that is a whole number of at least {@code least}. */
  int number(String name, int byDefault, int least) throws UsageException {
    String given = options.getOrDefault(name, Integer.toString(byDefault));
    try {
      int number = Integer.parseInt(given);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, together with numbers that are too small.
    }
    throw new UsageException(
        "option --" + name + " must be a whole number of at least " + least + ", got " + given);
  }

  /** The value of an option that is a number above 0 and below {@code below}. */
  double share(String name, double byDefault, double below) throws UsageException {
    String given = options.getOrDefault(name, Double.toString(byDefault));
    try {
      double value = Double.parseDouble(given);
      if (value > 0 && value < below) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, together with numbers that are out of range.
    }
    throw new UsageException(
        "option --" + name + " must be a number above 0 and below " + below + ", got " + given);
  }
}

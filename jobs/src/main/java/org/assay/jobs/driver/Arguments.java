package org.assay.jobs.driver;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The command line of a workload after Hadoop's generic options: two paths and long options. */
public final class Arguments {
  /** The option of every workload that names the local file for the JSON report. */
  public static final String REPORT = "report";

  private final List<String> paths = new ArrayList<>();
  private final Map<String, String> options = new TreeMap<>();

  private Arguments() {}

  /**
   * Takes a command line apart.
   *
   * @param valued names of the options that take a value, without the hyphens
   * @param flags names of the options that take none
   * @throws UsageException for an option that isn't known, lacks its value, or other than two paths
   */
  public static Arguments parse(String[] args, Set<String> valued, Set<String> flags)
      throws UsageException {
    Set<String> withValue = new TreeSet<>(valued);
    withValue.add(REPORT);
    Arguments parsed = new Arguments();
    for (int i = 0; i < args.length; i++) {
      if (!args[i].startsWith("-")) {
        parsed.paths.add(args[i]);
        continue;
      }
      int equals = args[i].indexOf('=');
      String name = equals < 0 ? args[i] : args[i].substring(0, equals);
      name = name.startsWith("--") ? name.substring(2) : name;
      if (flags.contains(name) && equals < 0) {
        parsed.options.put(name, "true");
      } else if (withValue.contains(name) && equals >= 0) {
        parsed.options.put(name, args[i].substring(equals + 1));
      } else if (withValue.contains(name) && i + 1 < args.length) {
        parsed.options.put(name, args[++i]);
      } else {
        throw new UsageException(complaint(args[i], name, withValue, flags));
      }
    }
    if (parsed.paths.size() != 2) {
      throw new UsageException(
          "expected <input> <output>, got " + parsed.paths + "; see --help for an example");
    }
    return parsed;
  }

  private static String complaint(
      String arg, String name, Set<String> withValue, Set<String> flags) {
    if (withValue.contains(name)) {
      return "option --" + name + " needs a value";
    }
    if (arg.startsWith("-D")) {
      return "generic option " + arg + " must come before the input path";
    }
    Set<String> known = new TreeSet<>(withValue);
    known.addAll(flags);
    return "unknown option " + arg + "; known are --" + String.join(", --", known);
  }

  public String input() {
    return paths.get(0);
  }

  public String output() {
    return paths.get(1);
  }

  /** The workload's options that were given, without the report's. */
  public Map<String, String> given() {
    Map<String, String> given = new TreeMap<>(options);
    given.remove(REPORT);
    return Collections.unmodifiableMap(given);
  }

  /** The value of an option, or the default if it wasn't given. */
  public String get(String name, String defaultValue) {
    return options.getOrDefault(name, defaultValue);
  }

  /** Whether a flag was given. */
  public boolean has(String name) {
    return options.containsKey(name);
  }

  /**
   * The value of an option that is a whole number.
   *
   * @throws UsageException if it isn't a number or less than {@code least}
   */
  public long number(String name, long defaultValue, long least) throws UsageException {
    String value = options.get(name);
    if (value == null) {
      return defaultValue;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, together with numbers that are too small.
    }
    throw new UsageException(
        "option --" + name + " must be a whole number of at least " + least + ", got " + value);
  }

  /**
   * The value of an option that is a number.
   *
   * @throws UsageException if it isn't above 0 and below {@code below}
   */
  public double share(String name, double defaultValue, double below) throws UsageException {
    String value = options.getOrDefault(name, Double.toString(defaultValue));
    try {
      double number = Double.parseDouble(value);
      if (number > 0 && number < below) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, together with numbers that are out of range.
    }
    throw new UsageException(
        "option --" + name + " must be a number above 0 and below " + below + ", got " + value);
  }

  /**
   * The local file for the report; null without one.
   *
   * @throws UsageException if it can't be written
   */
  public Path report() throws UsageException {
    String given = options.get(REPORT);
    if (given == null) {
      return null;
    }
    Path file = Path.of(given).toAbsolutePath();
    if (file.getParent() == null
        || !Files.isDirectory(file.getParent())
        || !Files.isWritable(file.getParent())
        || Files.isDirectory(file)) {
      throw new UsageException(
          "report " + given + " cannot be written; give a file in a local directory that exists");
    }
    return file;
  }

  /**
   * Whether an option with the values {@code allow} and {@code refuse} allows; it refuses by
   * default.
   */
  public boolean allows(String name) throws UsageException {
    String value = options.getOrDefault(name, "refuse");
    if (!Arrays.asList("allow", "refuse").contains(value)) {
      throw new UsageException("option --" + name + " must be allow or refuse, got " + value);
    }
    return value.equals("allow");
  }
}

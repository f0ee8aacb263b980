package org.assay.direct;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tiers of a node: its NodeManager's local directories, each with a tag.
 *
 * <p>Tags are written as HDFS writes those of its own directories, {@code
 * [SSD]/ssd/local,[DISK]/d1/local}, in a property or in a file of the node, where lines part them
 * too. Paths are spelled as {@code yarn.nodemanager.local-dirs} spells them.
 */
final class Tiers {
  static final String DIRECTORIES = "assay.direct.local.dirs";
  static final String FILE = "assay.direct.tiers.file";
  static final String USUAL_FILE = "/etc/assay/local-dirs";

  /** The share of a tier's file system that may be filled; what is above overflows. */
  static final String FULL = "assay.direct.full";

  static final String USUAL_FULL = "0.9";

  /** What one task is expected to write. The limit knows nothing of tasks that began together. */
  static final String TASK_BYTES = "assay.direct.task.bytes";

  private static final Logger LOG = LoggerFactory.getLogger(Tiers.class);
  private static final Pattern TAGGED = Pattern.compile("\\[(\\w+)\\](/.*)");

  private Tiers() {}

  /** The directories for a task, and why it has these. */
  static final class Choice {
    final Outcome outcome;
    final List<String> directories;

    Choice(Outcome outcome, List<String> directories) {
      this.outcome = outcome;
      this.directories = directories;
    }
  }

  /**
   * Chooses among the directories that a container was given, which lie below those of the
   * NodeManager: those of the tier that have room for a task. Where none has, those others that
   * have room; where there are no such, all. {@code attempt} counts the earlier attempts of the
   * task; see {@link #leaves}. Fails for nothing.
   */
  static Choice choose(Configuration conf, String tier, String[] given, int attempt) {
    return choose(conf, tier, given, attempt, Tiers::freeBytes);
  }

  static Choice choose(
      Configuration conf,
      String tier,
      String[] given,
      int attempt,
      ToLongFunction<List<String>> free) {
    try {
      return choose(conf, tier, given, attempt, read(conf), free);
    } catch (NumberFormatException e) {
      return all(Outcome.OVERFLOW_BAD_NUMBER, given, e.getMessage());
    } catch (IOException | RuntimeException e) {
      return all(Outcome.OVERFLOW_BAD_TAGS, given, e.toString());
    }
  }

  private static Choice all(Outcome outcome, String[] given, String why) {
    LOG.warn("No tier is chosen: {}", why);
    return new Choice(outcome, Arrays.asList(given));
  }

  private static Choice choose(
      Configuration conf,
      String tier,
      String[] given,
      int attempt,
      Map<Path, String> tags,
      ToLongFunction<List<String>> free) {
    double full = fullShare(conf);
    long taskBytes = taskBytes(conf);
    String wanted = tier.toUpperCase(Locale.ROOT);
    List<String> usable = new ArrayList<>();
    List<String> others = new ArrayList<>();
    Outcome outcome =
        tags.containsValue(wanted) ? Outcome.OVERFLOW_MISSING : Outcome.OVERFLOW_UNTAGGED;
    for (String directory : given) {
      Path root = rootOf(directory, tags.keySet());
      if (root == null) {
        others.add(directory);
        continue;
      }
      Outcome state = stateOf(root.toFile(), new File(directory), full, taskBytes);
      boolean inTier = tags.get(root).equals(wanted);
      outcome = inTier ? state : outcome;
      if (state == Outcome.DIRECTED) {
        (inTier ? usable : others).add(directory);
      }
    }
    if (!usable.isEmpty() && !leaves(attempt, usable, others, free)) {
      return new Choice(Outcome.DIRECTED, usable);
    }
    return new Choice(
        usable.isEmpty() ? outcome : Outcome.OVERFLOW_RETRIED,
        others.isEmpty() ? Arrays.asList(given) : others);
  }

  /**
   * Whether an attempt leaves its tier for others that have room. A later one does where more is
   * free in the others, so that what a small tier ended goes to large disks. That keeps an attempt
   * in a tier that is broken and looks empty, so that every third one leaves in any case. Not all
   * later ones do: the others may be a small tier, which gets full.
   */
  private static boolean leaves(
      int attempt, List<String> tier, List<String> others, ToLongFunction<List<String>> free) {
    if (attempt == 0 || others.isEmpty()) {
      return false;
    }
    return attempt % 3 == 2 || free.applyAsLong(others) > free.applyAsLong(tier);
  }

  /** The tags by directory; none where the node has none. Throws for what is not a tag. */
  private static Map<Path, String> read(Configuration conf) throws IOException {
    String text = conf.getTrimmed(DIRECTORIES, "");
    Path file = Paths.get(conf.getTrimmed(FILE, USUAL_FILE));
    if (text.isEmpty() && Files.exists(file)) {
      text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
    Map<Path, String> tags = new LinkedHashMap<>();
    for (String entry : text.split("[,\n]")) {
      Matcher tagged = TAGGED.matcher(entry.trim());
      if (tagged.matches()) {
        Path directory = Paths.get(tagged.group(2)).normalize();
        tags.put(directory, tagged.group(1).toUpperCase(Locale.ROOT));
      } else if (!entry.trim().isEmpty()) {
        throw new IOException(entry.trim() + " is no tagged directory such as [SSD]/ssd/local");
      }
    }
    return tags;
  }

  /** The innermost of the tagged directories in which a directory lies; null where none is. */
  private static Path rootOf(String directory, Collection<Path> roots) {
    Path path = Paths.get(directory).normalize();
    Path innermost = null;
    for (Path root : roots) {
      if (path.startsWith(root)
          && (innermost == null || root.getNameCount() > innermost.getNameCount())) {
        innermost = root;
      }
    }
    return innermost;
  }

  /** The largest alone: directories that share a file system share what is free. */
  private static long freeBytes(List<String> directories) {
    long most = 0;
    for (String directory : directories) {
      File place = new File(directory);
      while (place != null && !place.exists()) {
        place = place.getParentFile();
      }
      most = Math.max(most, place == null ? 0 : place.getUsableSpace());
    }
    return most;
  }

  /** A container's own directory may be made later; its NodeManager's is there before. */
  private static Outcome stateOf(File root, File directory, double full, long taskBytes) {
    File place = directory.exists() ? directory : root;
    if (!place.isDirectory()) {
      return Outcome.OVERFLOW_MISSING;
    }
    if (!place.canWrite()) {
      return Outcome.OVERFLOW_READ_ONLY;
    }
    long total = place.getTotalSpace();
    double used = (double) total - place.getUsableSpace() + taskBytes;
    return used > full * total ? Outcome.OVERFLOW_FULL : Outcome.DIRECTED;
  }

  static double fullShare(Configuration conf) {
    String text = conf.getTrimmed(FULL, USUAL_FULL);
    if (!text.matches("0(\\.\\d*)?|1(\\.0*)?|\\.\\d+")) {
      throw new NumberFormatException(
          FULL + " is '" + text + "'; set it to a share from 0 to 1, such as " + USUAL_FULL);
    }
    return Double.parseDouble(text);
  }

  static long taskBytes(Configuration conf) {
    long sortBytes = conf.getLong("mapreduce.task.io.sort.mb", 100) << 20;
    long bytes = -1;
    try {
      bytes = conf.getLongBytes(TASK_BYTES, sortBytes);
    } catch (RuntimeException e) {
      // Text that is no number is refused as a negative number is.
    }
    if (bytes < 0) {
      throw new NumberFormatException(
          TASK_BYTES + " is '" + conf.get(TASK_BYTES) + "'; set it to 0 or more, such as 100m");
    }
    return bytes;
  }
}

package org.assay.sampler;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/**
 * What was read on this node, compressed in memory: for each reading its time, and each line of the
 * files as {@code PATH:LINE}. Lines that grow with the machine and that nobody needs are left out.
 */
final class Readings {
  private static final List<String> FILES =
      List.of(
          "/proc/stat",
          "/proc/diskstats",
          "/proc/net/dev",
          "/proc/meminfo",
          "/proc/pressure/cpu",
          "/proc/pressure/memory",
          "/proc/pressure/io");

  private static final Pattern LEFT_OUT = Pattern.compile("^(intr|softirq|cpu[0-9])");

  private static final Pattern TELLING = Pattern.compile("device|lower_.*|bridge|tun_flags");

  private final Path root;
  private final OwnClock clock;
  private final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
  private OutputStream text;

  /** Of the node whose {@code /proc} and {@code /sys} lie below {@code root}. */
  Readings(Path root, OwnClock clock) throws IOException {
    this.root = root;
    this.clock = clock;
    this.text = new GZIPOutputStream(compressed);
    addLine(devices());
  }

  /** Keeps a line of another kind. */
  void addLine(String line) throws IOException {
    text.write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Reads all files once; one that is not there has no lines. */
  void read() throws IOException {
    StringBuilder reading = new StringBuilder(8192);
    reading.append(String.format(Locale.ROOT, "@ - %.6f\n", clock.seconds()));
    for (String file : FILES) {
      for (String line : lines(root.resolve(file.substring(1)))) {
        if (!LEFT_OUT.matcher(line).find()) {
          reading.append(file).append(':').append(line).append('\n');
        }
      }
    }
    addLine(reading.append("@end").toString());
  }

  /** Bytes that are kept, about. */
  int size() {
    return compressed.size();
  }

  /** Hands out what is kept as a whole gzip member, and begins anew. */
  byte[] take() throws IOException {
    text.close();
    byte[] content = compressed.toByteArray();
    compressed.reset();
    text = new GZIPOutputStream(compressed);
    return content;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, StandardCharsets.ISO_8859_1);
    } catch (IOException absent) {
      return List.of();
    }
  }

  /** What of sysfs tells which drives and network interfaces count for themselves. */
  private String devices() {
    StringBuilder line = new StringBuilder("@devices");
    for (String block : names("sys/block")) {
      if (names("sys/block/" + block).contains("device")) {
        line.append(" /sys/block/").append(block).append("/device");
      }
    }
    for (String link : names("sys/class/net")) {
      line.append(" /sys/class/net/").append(link);
      for (String entry : names("sys/class/net/" + link)) {
        if (TELLING.matcher(entry).matches()) {
          line.append(" /sys/class/net/").append(link).append('/').append(entry);
        }
      }
    }
    return line.toString();
  }

  private List<String> names(String folder) {
    String[] names = root.resolve(folder).toFile().list();
    return names == null ? List.of() : List.of(names);
  }
}

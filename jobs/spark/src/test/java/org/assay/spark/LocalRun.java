package org.assay.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/** Runs commands with Spark's local master in a temporary directory. */
final class LocalRun {
  private final Path directory;
  private String complaint = "";
  private String news = "";

  LocalRun(Path directory) {
    this.directory = directory;
  }

  private SparkConf settings() {
    return new SparkConf(false)
        .setMaster("local[2]")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.local.dir", directory.resolve("local").toString())
        .set("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
        .set("spark.hadoop.fs.defaultFS", "file:///")
        .set("spark.hadoop.mapreduce.job.reduces", "3");
  }

  /** Writes a file with these lines and returns its path. */
  String write(String name, String... lines) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, Arrays.asList(lines));
    return file.toString();
  }

  String path(String name) {
    return directory.resolve(name).toString();
  }

  boolean exists(String name) {
    return Files.exists(directory.resolve(name));
  }

  /** Runs a command and returns its exit code. */
  int run(String... args) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
      return Main.run(settings(), args);
    } finally {
      System.setOut(out);
      System.setErr(err);
      complaint = said.toString(StandardCharsets.UTF_8);
      news = printed.toString(StandardCharsets.UTF_8);
    }
  }

  /** Runs a command on the directory {@code in} and returns its result. */
  JsonNode result(String output, String command, String... options) throws IOException {
    List<String> args = new ArrayList<>(List.of(command, path("in"), path(output)));
    args.addAll(List.of(options));
    args.add("--report=" + path(output + ".json"));
    if (run(args.toArray(new String[0])) != Main.OK) {
      throw new AssertionError(complaint);
    }
    return report(output + ".json").get("result");
  }

  /** What the last command printed to standard error. */
  String complaint() {
    return complaint;
  }

  /** What the last command printed to standard output. */
  String news() {
    return news;
  }

  /** The part files of an output directory, in the order of their names. */
  List<Path> parts(String name) throws IOException {
    try (Stream<Path> parts = Files.list(directory.resolve(name))) {
      return parts
          .filter(part -> part.getFileName().toString().startsWith("part-"))
          .sorted()
          .collect(Collectors.toList());
    }
  }

  /** All lines of an output directory, in the order of its files. */
  List<String> lines(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path part : parts(name)) {
      lines.addAll(Files.readAllLines(part));
    }
    return lines;
  }

  /** All lines of an output directory, sorted. */
  List<String> sorted(String name) throws IOException {
    return lines(name).stream().sorted().collect(Collectors.toList());
  }

  /** A report that a command wrote. */
  JsonNode report(String name) throws IOException {
    return new ObjectMapper().readTree(directory.resolve(name).toFile());
  }
}

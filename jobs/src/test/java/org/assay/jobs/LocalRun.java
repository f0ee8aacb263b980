package org.assay.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/** Runs a command with Hadoop's local job runner in a temporary directory. */
public final class LocalRun {
  private final Path directory;

  /** What the last command printed to standard error. */
  private String complaint = "";

  public LocalRun(Path directory) {
    this.directory = directory;
  }

  /** Settings of the local job runner with {@code reducers} reducers. */
  public Configuration settings(int reducers) {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    // Not in the test's directory: a job's last files may still go when that is deleted. Several
    // JVMs share it: each job has a folder of its own there, named by chance.
    conf.set("hadoop.tmp.dir", Path.of("target", "hadoop-tmp").toAbsolutePath().toString());
    conf.setInt("mapreduce.job.reduces", reducers);
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", 5);
    conf.setInt("mapreduce.task.io.sort.mb", 1);
    return conf;
  }

  /** Writes a file with these lines and returns its path. */
  public String write(String name, String... lines) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, Arrays.asList(lines));
    return file.toString();
  }

  public String path(String name) {
    return directory.resolve(name).toString();
  }

  public boolean exists(String name) {
    return Files.exists(directory.resolve(name));
  }

  /** Runs a command and returns its exit code. */
  public int run(int reducers, String... args) throws Exception {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
      return Main.run(settings(reducers), args);
    } finally {
      System.setOut(out);
      System.setErr(err);
      complaint = said.toString(StandardCharsets.UTF_8);
    }
  }

  public String complaint() {
    return complaint;
  }

  /** All lines of the part files of an output directory, sorted. */
  public List<String> output(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> parts = Files.list(directory.resolve(name))) {
      for (Path part : parts.collect(Collectors.toList())) {
        if (part.getFileName().toString().startsWith("part-")) {
          lines.addAll(Files.readAllLines(part));
        }
      }
    }
    Collections.sort(lines);
    return lines;
  }

  /** A report that a command wrote. */
  public JsonNode report(String name) {
    try {
      return new ObjectMapper().readTree(directory.resolve(name).toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

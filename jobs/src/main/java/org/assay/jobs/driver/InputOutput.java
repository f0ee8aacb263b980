package org.assay.jobs.driver;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** The checks of a workload's paths that are made before any job starts. */
public final class InputOutput {
  /** What a Hadoop file system says that shows tables of lines as files. */
  static final String LINES_ONLY = "assay.lines-only";

  private InputOutput() {}

  /** Refuses an input that isn't there, or holds no byte. */
  public static void requireInput(Configuration conf, Path input)
      throws UsageException, IOException {
    FileStatus[] matches = input.getFileSystem(conf).globStatus(input);
    if (matches == null || matches.length == 0) {
      throw new UsageException("input " + input + " does not exist; give a file or a directory");
    }
    for (FileStatus match : matches) {
      if (holdsBytes(conf, match)) {
        return;
      }
    }
    throw new UsageException("input " + input + " is empty; give a file, or a directory of files");
  }

  private static boolean holdsBytes(Configuration conf, FileStatus status) throws IOException {
    if (status.isFile()) {
      return status.getLen() > 0;
    }
    for (FileStatus child : status.getPath().getFileSystem(conf).listStatus(status.getPath())) {
      String name = child.getPath().getName();
      boolean hidden = name.startsWith("_") || name.startsWith(".");
      if (!hidden && child.isFile() && child.getLen() > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Where files between jobs are kept: beside the output, or under its path in the default file
   * system where the output's store has lines but no files.
   */
  static Path work(Configuration conf, Path output) throws IOException {
    Path beside = output.suffix(".work");
    return output.getFileSystem(conf).hasPathCapability(output, LINES_ONLY)
        ? new Path(beside.toUri().getPath())
        : beside;
  }

  /** Refuses a directory that is already there: nothing is ever overwritten. */
  public static void requireAbsent(Configuration conf, Path path, String role)
      throws UsageException, IOException {
    FileSystem files = path.getFileSystem(conf);
    if (files.exists(path)) {
      throw new UsageException(
          role + " " + path + " already exists; delete it or give another output path");
    }
  }
}

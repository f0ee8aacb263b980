package org.assay.jobs.graph;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.util.LineReader;

/**
 * Finds the line that a job stumbled over, which knows no line numbers: a task begins anywhere in a
 * file.
 */
public final class FirstBadLine {
  private FirstBadLine() {}

  /** Whether what a job said is about a line that it refused: with the exception's name. */
  public static boolean isMeantBy(String said) {
    return said.contains(MalformedLineException.class.getName());
  }

  /**
   * Reads the files of an input, from the beginning up to the first line that isn't of a form.
   *
   * @return a sentence with file and number of that line and what is wrong, null if there is none
   */
  public static String in(Configuration conf, Path input, LineForm form) throws IOException {
    FileSystem files = input.getFileSystem(conf);
    FileStatus[] matches = files.globStatus(input);
    for (FileStatus match : matches == null ? new FileStatus[0] : matches) {
      for (FileStatus file : files.listStatus(match.getPath())) {
        String name = file.getPath().getName();
        if (file.isFile() && !name.startsWith("_") && !name.startsWith(".")) {
          String found = inFile(conf, file.getPath(), form);
          if (found != null) {
            return found;
          }
        }
      }
    }
    return null;
  }

  private static String inFile(Configuration conf, Path file, LineForm form) throws IOException {
    CompressionCodec codec = new CompressionCodecFactory(conf).getCodec(file);
    Text line = new Text();
    try (InputStream raw = file.getFileSystem(conf).open(file);
        InputStream plain = codec == null ? raw : codec.createInputStream(raw);
        LineReader lines = new LineReader(plain, conf)) {
      for (long number = 1; lines.readLine(line) > 0; number++) {
        try {
          form.check(line);
        } catch (MalformedLineException e) {
          return file + " line " + number + ": " + e.getMessage();
        }
      }
    }
    return null;
  }
}

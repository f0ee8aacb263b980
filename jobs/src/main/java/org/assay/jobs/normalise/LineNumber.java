package org.assay.jobs.normalise;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.util.LineReader;

/** Finds the number of a line from its offset, by reading the file again from its beginning. */
final class LineNumber {
  private LineNumber() {}

  /** The number, counted from 1, of the line that starts at this uncompressed offset. */
  static long at(Configuration conf, Path file, long offset) throws IOException {
    FileSystem files = file.getFileSystem(conf);
    CompressionCodec codec = new CompressionCodecFactory(conf).getCodec(file);
    try (InputStream stored = files.open(file);
        InputStream plain = codec == null ? stored : codec.createInputStream(stored);
        LineReader reader = new LineReader(plain, conf)) {
      Text line = new Text();
      long position = 0;
      long number = 1;
      while (position < offset) {
        int consumed = reader.readLine(line);
        if (consumed == 0) {
          break;
        }
        position += consumed;
        number++;
      }
      return number;
    }
  }
}

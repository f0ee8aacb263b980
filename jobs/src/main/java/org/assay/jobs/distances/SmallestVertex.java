package org.assay.jobs.distances;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.util.LineReader;
import org.assay.jobs.graph.IdScanner;

/** Finds the smallest vertex of friend lists from the first line of each file, which ascends. */
final class SmallestVertex {
  private SmallestVertex() {}

  /** The smallest vertex; the lists have at least one. */
  static long of(Path lists, Configuration conf) throws IOException {
    FileSystem files = lists.getFileSystem(conf);
    CompressionCodecFactory codecs = new CompressionCodecFactory(conf);
    IdScanner scanner = new IdScanner(" ");
    Text line = new Text();
    long smallest = Long.MAX_VALUE;
    for (FileStatus part : files.listStatus(lists, path -> path.getName().startsWith("part-"))) {
      CompressionCodec codec = codecs.getCodec(part.getPath());
      try (LineReader reader =
          new LineReader(
              codec == null
                  ? files.open(part.getPath())
                  : codec.createInputStream(files.open(part.getPath())))) {
        if (reader.readLine(line) > 0) {
          scanner.reset(line);
          scanner.hasNext();
          smallest = Math.min(smallest, scanner.next());
        }
      }
    }
    return smallest;
  }
}

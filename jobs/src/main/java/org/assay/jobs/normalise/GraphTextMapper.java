package org.assay.jobs.normalise;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.MalformedLineException;
import org.assay.jobs.graph.VertexPair;

/**
 * Reads the text of a graph in any of the usual shapes; see {@link Normalise} for the options.
 *
 * <p>A line that can't be read ends the task. The sentence about it goes into the exception, and
 * into a file under {@link #COMPLAINTS}, where the driver finds it on any cluster.
 */
final class GraphTextMapper extends Mapper<LongWritable, Text, VertexPair, ByteWritable> {
  static final String SKIP_BYTES = "assay.normalise.skip-bytes";
  static final String COMMENT = "assay.normalise.comment";
  static final String EXTRA_COLUMNS = "assay.normalise.extra-columns";
  static final String LONE_VERTICES = "assay.normalise.lone-vertices";
  static final String COMPLAINTS = "assay.normalise.complaints";

  private final IdScanner scanner = new IdScanner("\t ,;\r");
  private final VertexPair pair = new VertexPair();
  private final ByteWritable kind = new ByteWritable();
  private final long[] counts = new long[NormaliseCounter.values().length];
  private long skipBytes;
  private String comment;
  private boolean extraColumns;
  private boolean loneVertices;

  @Override
  protected void setup(Context context) {
    Configuration conf = context.getConfiguration();
    skipBytes = conf.getLong(SKIP_BYTES, 0);
    comment = conf.get(COMMENT, "");
    extraColumns = conf.getBoolean(EXTRA_COLUMNS, false);
    loneVertices = conf.getBoolean(LONE_VERTICES, false);
  }

  @Override
  protected void map(LongWritable offset, Text line, Context context)
      throws IOException, InterruptedException {
    count(NormaliseCounter.LINES);
    if (offset.get() < skipBytes) {
      count(NormaliseCounter.SKIPPED_LINES);
      return;
    }
    scanner.reset(line);
    if (!scanner.hasNext()) {
      count(NormaliseCounter.BLANKS);
    } else if (comment.indexOf((char) scanner.peek()) >= 0) {
      count(NormaliseCounter.COMMENTS);
    } else {
      try {
        readVertices(context);
      } catch (MalformedLineException e) {
        throw complain(offset.get(), line, e, context);
      }
    }
  }

  private void readVertices(Context context) throws IOException, InterruptedException {
    long first = scanner.next();
    if (!scanner.hasNext()) {
      if (!loneVertices) {
        throw new MalformedLineException(
            "one field where two vertices are expected; `--lone-vertices allow` takes it as a"
                + " vertex without an edge, `--skip-bytes` skips a header");
      }
      count(NormaliseCounter.LONE_LINES);
      emit(first, first, NormaliseJob.EXISTS, context);
      return;
    }
    long second = scanner.next();
    if (scanner.hasNext() && !extraColumns) {
      throw new MalformedLineException(
          "more than two fields; `--extra-columns allow` ignores what follows the two vertices");
    }
    count(NormaliseCounter.EDGE_LINES);
    emitEdge(first, second, context);
  }

  private void emitEdge(long first, long second, Context context)
      throws IOException, InterruptedException {
    if (first == second) {
      count(NormaliseCounter.SELF_LOOPS);
      emit(first, first, NormaliseJob.EXISTS, context);
    } else if (first < second) {
      emit(first, second, NormaliseJob.FORWARD, context);
      emit(second, second, NormaliseJob.HAS_EDGE, context);
    } else {
      emit(second, first, NormaliseJob.BACKWARD, context);
      emit(first, first, NormaliseJob.HAS_EDGE, context);
    }
  }

  private void emit(long first, long second, byte value, Context context)
      throws IOException, InterruptedException {
    pair.set(first, second);
    kind.set(value);
    context.write(pair, kind);
  }

  private void count(NormaliseCounter counter) {
    counts[counter.ordinal()]++;
  }

  private static MalformedLineException complain(
      long offset, Text line, MalformedLineException reason, Context context) throws IOException {
    Configuration conf = context.getConfiguration();
    Path file = ((FileSplit) context.getInputSplit()).getPath();
    long number = LineNumber.at(conf, file, offset);
    String sentence =
        file
            + " line "
            + number
            + " "
            + MalformedLineException.quote(line.toString())
            + " cannot be read: "
            + reason.getMessage();
    String directory = conf.get(COMPLAINTS);
    if (directory != null) {
      Path complaint = new Path(directory, context.getTaskAttemptID().toString());
      try (OutputStream out = complaint.getFileSystem(conf).create(complaint)) {
        out.write(sentence.getBytes(StandardCharsets.UTF_8));
      }
    }
    return new MalformedLineException(sentence);
  }

  @Override
  protected void cleanup(Context context) {
    for (NormaliseCounter counter : NormaliseCounter.values()) {
      context.getCounter(counter).increment(counts[counter.ordinal()]);
    }
  }
}

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
  private Tally tally;
  private long skipBytes;
  private String comment;
  private boolean extraColumns;
  private boolean loneVertices;

  @Override
  protected void setup(Context context) {
    tally = new Tally(context);
    Configuration conf = context.getConfiguration();
    skipBytes = conf.getLong(SKIP_BYTES, 0);
    comment = conf.get(COMMENT, "");
    extraColumns = conf.getBoolean(EXTRA_COLUMNS, false);
    loneVertices = conf.getBoolean(LONE_VERTICES, false);
  }

  @Override
  protected void map(LongWritable offset, Text line, Context context)
      throws IOException, InterruptedException {
    tally.add(NormaliseCounter.LINES, 1);
    if (offset.get() < skipBytes) {
      tally.add(NormaliseCounter.SKIPPED_LINES, 1);
      return;
    }
    scanner.reset(line);
    if (!scanner.hasNext()) {
      tally.add(NormaliseCounter.BLANKS, 1);
    } else if (comment.indexOf((char) scanner.peek()) >= 0) {
      tally.add(NormaliseCounter.COMMENTS, 1);
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
      tally.add(NormaliseCounter.LONE_LINES, 1);
      emit(first, first, NormaliseJob.EXISTS, context);
      return;
    }
    long second = scanner.next();
    if (scanner.hasNext() && !extraColumns) {
      throw new MalformedLineException(
          "more than two fields; `--extra-columns allow` ignores what follows the two vertices");
    }
    tally.add(NormaliseCounter.EDGE_LINES, 1);
    emitEdge(first, second, context);
  }

  private void emitEdge(long first, long second, Context context)
      throws IOException, InterruptedException {
    if (first == second) {
      tally.add(NormaliseCounter.SELF_LOOPS, 1);
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
}

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.assay.rows.RowInputFormat;

/** What the programs have in common that read a table of lines in several ways. */
final class StoreTimes {
  private StoreTimes() {}

  /** What was read. */
  static final class Read {
    long rows;
    long bytes;

    void add(long lineBytes) {
      rows++;
      bytes += lineBytes;
    }
  }

  /** A way to read, or a part of it. */
  interface Way extends Callable<Read> {}

  /**
   * Reads in each of the ways in turn, in one process, and prints {@code
   * way<TAB>rows<TAB>bytes<TAB>seconds} of each. A further round comes first, which makes the
   * compiler and the caches warm; each round begins with another way.
   */
  static void inTurn(Map<String, Way> ways, int rounds) throws Exception {
    List<String> names = new ArrayList<>(ways.keySet());
    for (int round = 0; round <= rounds; round++) {
      for (int turn = 0; turn < names.size(); turn++) {
        String name = names.get((round + turn) % names.size());
        long startNs = System.nanoTime();
        Read read = ways.get(name).call();
        double seconds = (System.nanoTime() - startNs) / 1e9;
        if (round > 0) {
          System.out.printf(
              Locale.ROOT, "%s\t%d\t%d\t%.3f%n", name, read.rows, read.bytes, seconds);
        }
      }
    }
  }

  /** Reads parts, so many of them at once. */
  static Read together(List<Way> parts, int atOnce) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(atOnce);
    Read whole = new Read();
    try {
      for (Future<Read> part : threads.invokeAll(parts)) {
        whole.rows += part.get().rows;
        whole.bytes += part.get().bytes;
      }
    } finally {
      threads.shutdown();
    }
    return whole;
  }

  /** As a job's tasks read, so many of them at once. */
  static Read byFormat(RowInputFormat format, Configuration conf, Path path, int atOnce)
      throws Exception {
    Job job = Job.getInstance(conf);
    FileInputFormat.addInputPath(job, path);
    TaskAttemptContext task =
        new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    List<Way> tasks = new ArrayList<>();
    for (InputSplit split : format.getSplits(job)) {
      tasks.add(() -> bySplit(format, split, task));
    }
    return together(tasks, atOnce);
  }

  private static Read bySplit(RowInputFormat format, InputSplit split, TaskAttemptContext task)
      throws IOException, InterruptedException {
    Read read = new Read();
    try (RecordReader<?, Text> lines = format.createRecordReader(split, task)) {
      lines.initialize(split, task);
      while (lines.nextKeyValue()) {
        read.add(lines.getCurrentValue().getLength());
      }
    }
    return read;
  }
}

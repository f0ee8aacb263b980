import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
  private static final long SPLIT_BYTES = 16L << 20;

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

  /** How a store's own driver, which connects first, reads a table, or lines of it, by threads. */
  interface ByDriver {
    Read read(Configuration conf, List<Long> rows, int threads) throws Exception;
  }

  /**
   * Reads a table, and looks some of its lines up, by the format of jobs and by a driver. {@code
   * args} are {@code reads PATH ROUNDS THREADS ASKED}, of which {@code ASKED} is a local file with
   * the numbers of the lines; {@code tasks} is the property with the most tasks of a lookup.
   */
  static void besideDriver(
      String[] args, RowInputFormat format, String tasks, ByDriver whole, ByDriver lines)
      throws Exception {
    Path path = new Path(args[1]);
    int threads = Integer.parseInt(args[3]);
    java.nio.file.Path asked = java.nio.file.Path.of(args[4]);
    List<Long> rows = new ArrayList<>();
    Files.readAllLines(asked).forEach(line -> rows.add(Long.valueOf(line)));
    Configuration scan = new Configuration();
    scan.setLong(FileInputFormat.SPLIT_MAXSIZE, SPLIT_BYTES);
    Configuration lookup = new Configuration();
    lookup.set("assay.input.rows", asked.toUri().toString());
    lookup.setInt(tasks, threads);
    Map<String, Way> ways = new LinkedHashMap<>();
    ways.put("driver scan", () -> whole.read(scan, rows, threads));
    ways.put("scan", () -> byFormat(format, scan, path, threads));
    ways.put("driver lookup", () -> lines.read(lookup, rows, threads));
    ways.put("lookup", () -> byFormat(format, lookup, path, threads));
    inTurn(ways, Integer.parseInt(args[2]));
  }

  /** Lines to look up, as many for each thread. */
  static List<List<Long>> shares(List<Long> rows, int threads) {
    List<List<Long>> shares = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      shares.add(
          rows.subList(rows.size() * thread / threads, rows.size() * (thread + 1) / threads));
    }
    return shares;
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

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.assay.hbase.LinesInputFormat;

/**
 * Reads a table of lines in several ways in turn, in one process, and prints {@code way<TAB>rows<TAB>bytes<TAB>seconds}
 * of each. See {@code stores.py}, which runs it.
 *
 * <p>{@code scans PATH ROUNDS} reads; {@code make TABLE REGIONS} makes a table of HBase for ImportTsv, whose keys begin
 * with a hexadecimal digit.
 */
public final class StoreTimes {
  private static final String PATH_PREFIX = "hbase:";

  private StoreTimes() {}

  /** What was read. */
  private static final class Read {
    long rows;
    long bytes;
  }

  private interface Way {
    Read all() throws IOException, InterruptedException;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    if (args[0].equals("make")) {
      make(conf, TableName.valueOf(args[1]), Integer.parseInt(args[2]));
      return;
    }
    String[] names = {"client scan", "scan", "snapshot"};
    Way[] ways = {
      () -> byClient(conf, TableName.valueOf(args[1].substring(1).replace('/', '.'))),
      () -> byFormat(conf, args[1], "scan"),
      () -> byFormat(conf, args[1], "snapshot"),
    };
    int rounds = Integer.parseInt(args[2]);
    // The first round makes the compiler and the caches warm; each other one begins with another way.
    for (int round = 0; round <= rounds; round++) {
      for (int turn = 0; turn < ways.length; turn++) {
        int which = (round + turn) % ways.length;
        long startNs = System.nanoTime();
        Read read = ways[which].all();
        double seconds = (System.nanoTime() - startNs) / 1e9;
        if (round > 0) {
          System.out.printf(
              Locale.ROOT, "%s\t%d\t%d\t%.3f%n", names[which], read.rows, read.bytes, seconds);
        }
      }
    }
  }

  /** As HBase's own jobs read: by its client, with what they advise for whole tables. */
  private static Read byClient(Configuration conf, TableName name) throws IOException {
    Read read = new Read();
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Table table = connection.getTable(name);
        ResultScanner rows = table.getScanner(new Scan().setCacheBlocks(false))) {
      for (Result row : rows) {
        read.rows++;
        read.bytes += row.value().length;
      }
    }
    return read;
  }

  /** As a job's tasks read, one after the other. */
  private static Read byFormat(Configuration given, String path, String how)
      throws IOException, InterruptedException {
    Configuration conf = new Configuration(given);
    conf.set("hbase.assay.read", how);
    Job job = Job.getInstance(conf);
    FileInputFormat.addInputPath(job, new Path(PATH_PREFIX + path));
    LinesInputFormat format = new LinesInputFormat();
    TaskAttemptContext task = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    Read read = new Read();
    List<InputSplit> splits = format.getSplits(job);
    for (InputSplit split : splits) {
      try (RecordReader<?, Text> lines = format.createRecordReader(split, task)) {
        lines.initialize(split, task);
        while (lines.nextKeyValue()) {
          read.rows++;
          read.bytes += lines.getCurrentValue().getLength();
        }
      }
    }
    return read;
  }

  private static void make(Configuration conf, TableName name, int regions) throws IOException {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = Bytes.toBytes(String.format(Locale.ROOT, "%02x", 256 * i / regions));
    }
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of("d"))
              .build(),
          splits);
    }
  }
}

package org.assay.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FormatsTest {
  @TempDir java.nio.file.Path directory;

  /** Sends each line after its length. */
  public static final class LengthMapper extends Mapper<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      context.write(new LongWritable(line.getLength()), line);
    }
  }

  private List<String> lines(boolean named) throws Exception {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", java.nio.file.Path.of("target", "tmp").toAbsolutePath().toString());
    if (named) {
      conf.setClass("mapreduce.job.inputformat.class", LinesInputFormat.class, Object.class);
      conf.setClass("mapreduce.job.outputformat.class", LinesOutputFormat.class, Object.class);
    }
    java.nio.file.Path input = directory.resolve("input.txt");
    Files.writeString(input, "b\nlänger\n\na\n");
    java.nio.file.Path output = directory.resolve(named ? "named" : "usual");
    Job job = Job.getInstance(conf);
    job.setMapperClass(LengthMapper.class);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, new Path(input.toString()));
    FileOutputFormat.setOutputPath(job, new Path(output.toString()));
    assertTrue(job.waitForCompletion(false));
    return Files.readAllLines(output.resolve("part-r-00000"));
  }

  @Test
  void filesAreReadAndWrittenAsWithHadoopsOwnFormats() throws Exception {
    List<String> usual = lines(false);
    assertEquals(4, usual.size());
    assertEquals(usual, lines(true));
  }

  @Test
  void pathsOfItsSchemeAreInItsFileSystem() throws Exception {
    assertEquals(
        TableFileSystem.class, FileSystem.getFileSystemClass("hbase", new Configuration()));
    assertEquals("hbase", new TableFileSystem().getScheme());
  }

  @Test
  void tasksAndCommitterOfABulkLoadShareADirectoryWhateverIdTheyKnowTheJobBy() throws Exception {
    Configuration conf = new Configuration(false);
    conf.set("hbase.rootdir", directory.toUri().toString());
    conf.set("mapreduce.fileoutputcommitter.algorithm.version", "1");
    conf.set(TableSettings.LOAD, "bulk");
    LinesOutputFormat<Object, Object> output = new LinesOutputFormat<>();
    conf.set(FileOutputFormat.OUTDIR, "hbase:/runs/output");
    List<Path> paths = new ArrayList<>();
    for (String job : new String[] {"1700000000000_0001", "17000000000001_0001"}) {
      TaskAttemptID task = TaskAttemptID.forName("attempt_" + job + "_r_000000_0");
      OutputCommitter committer = output.getOutputCommitter(new TaskAttemptContextImpl(conf, task));
      paths.add(((PathOutputCommitter) committer).getOutputPath());
    }
    assertEquals(paths.get(0), paths.get(1));
    assertTrue(paths.get(0).toString().endsWith("/assay-tables/runs.output/output"));
    conf.set(TableSettings.LOAD, "puts");
    TaskAttemptID task = TaskAttemptID.forName("attempt_1700000000000_0001_r_000000_0");
    LinesOutputFormat<Object, Object> ofPuts = new LinesOutputFormat<>();
    OutputCommitter committer = ofPuts.getOutputCommitter(new TaskAttemptContextImpl(conf, task));
    assertTrue(!committer.needsTaskCommit(new TaskAttemptContextImpl(conf, task)));
  }

  @Test
  void newTablesKeepTheirRegionsAndTakeAsManyFilesAsThereAreTasks() {
    Configuration conf = new Configuration(false);
    TableDescriptor made =
        Tables.descriptor(TableName.valueOf("runs.input"), new TableSettings(conf));
    assertTrue(!made.isSplitEnabled());
    assertEquals(
        Integer.MAX_VALUE,
        Load.unlimited(conf).getInt("hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily", 32));
  }

  @Test
  void theServersSayHowFarALogHasAPutUnlessTheSettingsDo() {
    Configuration conf = new Configuration(false);
    TableName name = TableName.valueOf("runs.input");
    TableSettings settings = new TableSettings(conf);
    assertEquals(Durability.USE_DEFAULT, Tables.descriptor(name, settings).getDurability());
    conf.set(TableSettings.SYNC, "hflush");
    assertEquals(Durability.SYNC_WAL, Tables.descriptor(name, settings).getDurability());
    conf.set(TableSettings.SYNC, "hsync");
    assertEquals(Durability.FSYNC_WAL, Tables.descriptor(name, settings).getDurability());
  }

  @Test
  void tablesAreEncodedCompressedAndDividedAsTheSettingsSay() {
    Configuration conf = new Configuration(false);
    TableName name = TableName.valueOf("runs.input");
    TableDescriptor usual = Tables.descriptor(name, new TableSettings(conf));
    assertEquals(1, usual.getColumnFamilyCount());
    assertEquals(0, Tables.apart(usual));
    ColumnFamilyDescriptor family = usual.getColumnFamily(Tables.FAMILY);
    assertEquals(DataBlockEncoding.NONE, family.getDataBlockEncoding());
    assertEquals(Compression.Algorithm.NONE, family.getCompressionType());
    conf.set(TableSettings.ENCODING, "fast-diff");
    conf.set(TableSettings.COMPRESSION, "gz");
    conf.setInt(TableSettings.USED, 3);
    assertEquals(0, Tables.apart(Tables.descriptor(name, new TableSettings(conf))));
    conf.set(TableSettings.COLUMNS, "used-apart");
    TableDescriptor apart = Tables.descriptor(name, new TableSettings(conf));
    assertEquals(3, Tables.apart(apart));
    for (byte[] one : new byte[][] {Tables.FAMILY, Tables.REST_FAMILY}) {
      ColumnFamilyDescriptor made = apart.getColumnFamily(one);
      assertEquals(DataBlockEncoding.FAST_DIFF, made.getDataBlockEncoding());
      assertEquals(Compression.Algorithm.GZ, made.getCompressionType());
    }
    conf.unset(TableSettings.USED); // a job's output: nobody says what will be read of it
    assertEquals(0, Tables.apart(Tables.descriptor(name, new TableSettings(conf))));
  }

  @Test
  void theRestOfLinesIsScannedWhereItIsWanted() {
    assertArrayEquals(Tables.REST_FAMILY, Tables.scan(true).getFamilies()[1]);
    assertEquals(1, Tables.scan(false).getFamilies().length);
  }

  @Test
  void settingsThatAreNoneAreRefused() {
    Configuration conf = new Configuration(false);
    assertEquals(TableSettings.Load.PUTS, new TableSettings(conf).load());
    assertEquals(TableSettings.Compaction.RUN_ON, new TableSettings(conf).compaction());
    conf.set(TableSettings.COMPACTION, "wait");
    assertEquals(TableSettings.Compaction.WAIT, new TableSettings(conf).compaction());
    conf.set(TableSettings.LOAD, "shovel");
    Exception wrong =
        assertThrows(IllegalArgumentException.class, () -> new TableSettings(conf).load());
    assertEquals(
        "property hbase.assay.load must be one of [puts, bulk], got shovel", wrong.getMessage());
    assertEquals(12, new TableSettings(conf).regions(3));
    conf.setInt(TableSettings.REGIONS, 7);
    assertEquals(7, new TableSettings(conf).regions(3));
    conf.setInt(TableSettings.REGIONS, 0);
    assertThrows(IllegalArgumentException.class, () -> new TableSettings(conf).regions(3));
  }
}

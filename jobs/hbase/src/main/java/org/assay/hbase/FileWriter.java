package org.assay.hbase;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.util.Bytes;

/** Writes lines into an HFile, which a region adopts whole. Its keys rise, as an HFile's must. */
final class FileWriter implements LineWriter {
  private final HFile.Writer file;
  private final RowKeys keys;
  private final long timeMs = System.currentTimeMillis();

  /** The file is made below {@code directory}, which has those of one load. */
  FileWriter(Configuration given, TableName table, Path directory, String name, RowKeys keys)
      throws IOException {
    Configuration conf = HBaseConfiguration.create(given);
    FileSystem files = directory.getFileSystem(conf);
    Path family = new Path(directory, Bytes.toString(Tables.FAMILY));
    files.mkdirs(family);
    file =
        HFile.getWriterFactory(conf, CacheConfig.DISABLED)
            .withPath(files, new Path(family, name))
            .withFileContext(
                new HFileContextBuilder()
                    .withTableName(table.getName())
                    .withColumnFamily(Tables.FAMILY)
                    .withCreateTime(timeMs)
                    .build())
            .create();
    this.keys = keys;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    byte[] key = keys.next();
    file.append(
        new KeyValue(
            key,
            0,
            key.length,
            Tables.FAMILY,
            0,
            Tables.FAMILY.length,
            Tables.LINE,
            0,
            Tables.LINE.length,
            timeMs,
            KeyValue.Type.Put,
            bytes,
            offset,
            length));
  }

  @Override
  public void close() throws IOException {
    file.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(timeMs));
    file.appendFileInfo(HStoreFile.MAJOR_COMPACTION_KEY, Bytes.toBytes(true));
    file.close();
  }
}

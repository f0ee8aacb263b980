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
import org.assay.rows.LineColumns;
import org.assay.rows.LineWriter;
import org.assay.rows.RowKeys;

/**
 * Writes lines into an HFile of each family, which a region adopts whole. Keys rise, as an HFile's
 * must.
 */
final class FileWriter implements LineWriter {
  private final HFile.Writer lines;
  private final HFile.Writer rests;
  private final RowKeys keys;
  private final int apart;
  private final long timeMs = System.currentTimeMillis();

  /**
   * The files are made below {@code directory}, which has those of one load.
   *
   * @param apart how many columns the table has apart from the others; 0 if it keeps lines whole
   */
  FileWriter(
      Configuration given, TableName table, Path directory, String name, RowKeys keys, int apart)
      throws IOException {
    Configuration conf = HBaseConfiguration.create(given);
    this.keys = keys;
    this.apart = apart;
    lines = file(conf, table, directory, name, Tables.FAMILY);
    rests = apart > 0 ? file(conf, table, directory, name, Tables.REST_FAMILY) : null;
  }

  private HFile.Writer file(
      Configuration conf, TableName table, Path directory, String name, byte[] family)
      throws IOException {
    FileSystem files = directory.getFileSystem(conf);
    Path ofFamily = new Path(directory, Bytes.toString(family));
    files.mkdirs(ofFamily);
    TableSettings settings = new TableSettings(conf);
    return HFile.getWriterFactory(conf, CacheConfig.DISABLED)
        .withPath(files, new Path(ofFamily, name))
        .withFileContext(
            new HFileContextBuilder()
                .withTableName(table.getName())
                .withColumnFamily(family)
                .withDataBlockEncoding(settings.encoding())
                .withCompression(settings.compression())
                .withCreateTime(timeMs)
                .build())
        .create();
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    byte[] key = keys.next();
    int first = apart > 0 ? LineColumns.length(bytes, offset, length, apart) : length;
    append(lines, key, Tables.FAMILY, Tables.LINE, bytes, offset, first);
    if (apart > 0) { // also where nothing follows: a row without it has lost it
      append(rests, key, Tables.REST_FAMILY, Tables.REST, bytes, offset + first, length - first);
    }
  }

  private void append(
      HFile.Writer file,
      byte[] key,
      byte[] family,
      byte[] column,
      byte[] bytes,
      int offset,
      int length)
      throws IOException {
    file.append(
        new KeyValue(
            key,
            0,
            key.length,
            family,
            0,
            family.length,
            column,
            0,
            column.length,
            timeMs,
            KeyValue.Type.Put,
            bytes,
            offset,
            length));
  }

  @Override
  public void close() throws IOException {
    end(lines);
    if (rests != null) {
      end(rests);
    }
  }

  private void end(HFile.Writer file) throws IOException {
    file.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(timeMs));
    file.appendFileInfo(HStoreFile.MAJOR_COMPACTION_KEY, Bytes.toBytes(true));
    file.close();
  }
}

package org.assay.hbase;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;

/** The HFiles of one bulk load on their way into a table. */
final class Load {
  private Load() {}

  /** Makes the directory for the files, with the storage policy that the table's have. */
  static void prepare(Tables tables, Path directory) throws IOException {
    FileSystem files = directory.getFileSystem(tables.conf());
    files.mkdirs(directory);
    if (!tables.settings().policy().isEmpty()) {
      files.setStoragePolicy(directory, tables.settings().policy());
    }
  }

  /** Gives the files to their regions, and removes the directory. */
  static void finish(Tables tables, TableName table, Path directory) throws IOException {
    Configuration conf = tables.conf();
    BulkLoadHFiles.create(conf).bulkLoad(table, directory);
    directory.getFileSystem(conf).delete(directory, true);
  }
}

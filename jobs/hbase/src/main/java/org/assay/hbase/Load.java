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

  /** Of a job's output: of the table alone, as tasks and committer may know the job by two ids. */
  static Path ofOutput(Configuration conf, TableName table) throws IOException {
    return Tables.directory(conf, table, "output");
  }

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
    BulkLoadHFiles.create(unlimited(tables.conf())).bulkLoad(table, directory);
    discard(tables.conf(), directory);
  }

  /** Each task brings a file, and a job has as many tasks as it likes. */
  static Configuration unlimited(Configuration given) {
    Configuration conf = new Configuration(given);
    conf.setInt(BulkLoadHFiles.MAX_FILES_PER_REGION_PER_FAMILY, Integer.MAX_VALUE);
    return conf;
  }

  /** Removes the files of a load; no error when there are none. */
  static void discard(Configuration conf, Path directory) throws IOException {
    directory.getFileSystem(conf).delete(directory, true);
  }
}

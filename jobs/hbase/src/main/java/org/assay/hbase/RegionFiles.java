package org.assay.hbase;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.util.CommonFSUtils;

/**
 * The files that have a region's rows. What a compaction has replaced lies beside them for some
 * minutes; a file that a compaction has made names those that it replaces, which a server that
 * opens the region leaves out, too.
 */
final class RegionFiles {
  private static final int TRIES = 3;

  /** Where a server that has taken a region over keeps what it has of its log. */
  private static final String LOGGED = "recovered.edits";

  private RegionFiles() {}

  /** Their bytes, 0 where there are none. */
  static long bytes(Configuration conf, RegionInfo region) throws IOException {
    Path directory =
        new Path(
            CommonFSUtils.getTableDir(CommonFSUtils.getRootDir(conf), region.getTable()),
            region.getEncodedName());
    FileSystem files = directory.getFileSystem(conf);
    if (!files.exists(directory)) {
      return 0;
    }
    long bytes = 0;
    for (FileStatus child : files.listStatus(directory)) {
      String name = child.getPath().getName();
      if (child.isDirectory() && !name.startsWith(".") && !name.equals(LOGGED)) {
        bytes += bytesOfFamily(conf, files, child.getPath());
      }
    }
    return bytes;
  }

  private static long bytesOfFamily(Configuration conf, FileSystem files, Path family)
      throws IOException {
    for (int left = TRIES; ; left--) {
      try {
        return bytes(conf, files, family);
      } catch (FileNotFoundException e) {
        if (left == 0) { // else it was replaced, and has gone since it was listed
          throw e;
        }
      }
    }
  }

  private static long bytes(Configuration conf, FileSystem files, Path family) throws IOException {
    List<FileStatus> there = new ArrayList<>();
    for (FileStatus file : files.listStatus(family)) {
      if (file.isFile() && StoreFileInfo.validateStoreFileName(file.getPath().getName())) {
        there.add(file);
      }
    }
    Set<String> replaced = new HashSet<>();
    if (there.size() > 1) {
      for (FileStatus file : there) {
        replaced.addAll(replaced(conf, files, file.getPath()));
      }
    }
    long bytes = 0;
    for (FileStatus file : there) {
      bytes += replaced.contains(file.getPath().getName()) ? 0 : file.getLen();
    }
    return bytes;
  }

  /** The names of the files that one replaces. */
  private static Set<String> replaced(Configuration conf, FileSystem files, Path file)
      throws IOException {
    if (!StoreFileInfo.isHFile(file)) {
      return Set.of(); // a reference into another region's file
    }
    try (HFile.Reader reader = HFile.createReader(files, file, CacheConfig.DISABLED, true, conf)) {
      byte[] names = reader.getHFileInfo().get(HStoreFile.COMPACTION_EVENT_KEY);
      return names == null ? Set.of() : ProtobufUtil.toCompactedStoreFiles(names);
    }
  }
}

package org.apache.hadoop.io;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * In the place of Hadoop's own class on the secured cluster of tests. That one refuses to be loaded there without
 * Hadoop's native library, which no package registry has. This one does not look at who owns a file.
 */
public class SecureIOUtils {
  public static RandomAccessFile openForRandomRead(File file, String mode, String owner, String group)
      throws IOException {
    return new RandomAccessFile(file, mode);
  }

  public static FSDataInputStream openFSDataInputStream(File file, String owner, String group)
      throws IOException {
    return FileSystem.getLocal(new Configuration()).getRaw().open(new Path(file.getAbsolutePath()));
  }

  public static FileInputStream openForRead(File file, String owner, String group) throws IOException {
    return new FileInputStream(file);
  }

  public static FileOutputStream createForWrite(File file, int permissions) throws IOException {
    Files.newByteChannel(file.toPath(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE).close();
    return new FileOutputStream(file);
  }
}

package org.assay.rows;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Tables as directories, each region a text file. What is written below a table's path is added to
 * the table, and stays without a name of its own: {@code /points/part-1} goes into the table {@code
 * points}. The length of a region's file is what the store says of the region.
 *
 * @param <R> a region, as the store knows it
 */
public abstract class RowFileSystem<R extends Region> extends FileSystem {
  private static final Pattern REGION = Pattern.compile("region-(\\d{5})");

  private final RowStore<R> store;
  private final URI root;
  private RowTables<R> tables;

  protected RowFileSystem(RowStore<R> store) {
    this.store = store;
    root = URI.create(store.scheme() + ":///");
  }

  @Override
  public String getScheme() {
    return store.scheme();
  }

  @Override
  public URI getUri() {
    return root;
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    tables = store.connect(conf);
  }

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      tables.close();
    }
  }

  @Override
  public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
    R region = region(file);
    if (region == null) {
      throw new FileNotFoundException(file + " is no region of a table");
    }
    String table = RowTables.at(file.getParent());
    boolean divided = tables.apart(table) > 0;
    return new FSDataInputStream(new RegionLines(tables, table, region, divided));
  }

  /** The region that a path names, null if it names none. */
  private R region(Path file) throws IOException {
    Matcher name = REGION.matcher(file.getName());
    if (file.isRoot() || file.getParent().isRoot() || !name.matches()) {
      return null;
    }
    String table = RowTables.at(file.getParent());
    if (!tables.exists(table)) {
      return null;
    }
    List<R> regions = tables.regions(table);
    int number = Integer.parseInt(name.group(1));
    return number < regions.size() ? regions.get(number) : null;
  }

  @Override
  public FSDataOutputStream create(
      Path file,
      FsPermission permission,
      boolean overwrite,
      int bufferBytes,
      short replication,
      long blockBytes,
      Progressable progress)
      throws IOException {
    String table = RowTables.at(file.getParent());
    LineStream lines = store.connect(getConf()).stream(table, file.getName());
    return new FSDataOutputStream(lines, statistics);
  }

  @Override
  public FSDataOutputStream append(Path file, int bufferBytes, Progressable progress) {
    throw new UnsupportedOperationException(
        "the lines of " + file + " can't be gone on with; write others beside it");
  }

  @Override
  public boolean rename(Path from, Path to) {
    throw new UnsupportedOperationException("table " + from + " can't get another name");
  }

  /** Removes all tables at and below a path, or the rows of the region that it names. */
  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    Path qualified = makeQualified(path);
    R region = region(qualified);
    if (region != null) {
      tables.empty(RowTables.at(qualified.getParent()), region);
      return true;
    }
    return tables.dropBelow(path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus status = getFileStatus(path);
    if (status.isFile()) {
      return new FileStatus[] {status};
    }
    Path parent = status.getPath();
    int depth = parent.depth();
    Map<String, FileStatus> children = new TreeMap<>();
    List<FileStatus> regions = new ArrayList<>();
    for (String table : tables.below(path)) {
      Path other = makeQualified(RowTables.path(table));
      if (other.depth() == depth) {
        regions.addAll(regions(table, parent));
        continue;
      }
      while (other.depth() > depth + 1) {
        other = other.getParent();
      }
      children.put(other.getName(), directory(other));
    }
    regions.addAll(children.values());
    return regions.toArray(new FileStatus[0]);
  }

  private List<FileStatus> regions(String table, Path parent) throws IOException {
    List<FileStatus> files = new ArrayList<>();
    for (R region : tables.regions(table)) {
      Path path = new Path(parent, String.format(Locale.ROOT, "region-%05d", files.size()));
      files.add(file(path, region));
    }
    return files;
  }

  private FileStatus file(Path path, R region) throws IOException {
    long bytes = tables.bytes(region);
    return new FileStatus(bytes, false, 1, Math.max(1, bytes), 0, path);
  }

  private static FileStatus directory(Path path) {
    return new FileStatus(0, true, 0, 0, 0, path);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    Path qualified = makeQualified(path);
    if (qualified.isRoot()) {
      return directory(qualified);
    }
    R region = region(qualified);
    if (region != null) {
      return file(qualified, region);
    }
    if (tables.below(qualified).isEmpty()) {
      throw new FileNotFoundException("there is no table at or below " + qualified);
    }
    return directory(qualified);
  }

  /** Does nothing: a table is made when something is written into it. */
  @Override
  public boolean mkdirs(Path path, FsPermission permission) {
    return true;
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    return "assay.lines-only".equals(capability) || super.hasPathCapability(path, capability);
  }

  @Override
  public void setWorkingDirectory(Path directory) {}

  @Override
  public Path getWorkingDirectory() {
    return new Path(root);
  }
}

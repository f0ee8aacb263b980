package org.assay.hbase;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.DoNotRetryRegionException;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.mapreduce.RegionSizeCalculator;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.security.AccessControlException;
import org.assay.rows.LineWriter;
import org.assay.rows.Region;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;
import org.assay.rows.RowTables;
import org.assay.rows.Rows;

/**
 * A connection to the tables of lines: one column, whose value is the line without its end. A table
 * may have the first columns of its lines there, and what follows them in a family of its own.
 */
final class Tables extends RowTables<Tables.Place> {
  static final byte[] FAMILY = Bytes.toBytes("d");
  static final byte[] LINE = Bytes.toBytes("l");
  static final byte[] REST_FAMILY = Bytes.toBytes("r");
  static final byte[] REST = Bytes.toBytes("r");

  private static final String APART = "assay.columns.apart";

  /** A value of the descriptors of the tables that this module has made; it touches no others. */
  private static final String MARK = "ASSAY";

  private static final String ROOT = "hbase.rootdir";
  private static final long POLL_MS = 200;

  /** A server that is asked so often to compact does not. */
  private static final int REQUESTS = 50;

  /** The parent of all directories that this module makes for tables. */
  private static final String WORK = "assay-tables";

  /** A region as HBase knows it, and where it is in a snapshot; null if its server is asked. */
  static final class Place extends Region {
    final RegionInfo info;
    final TableSnapshotInputFormatImpl.InputSplit snapshot;

    Place(RegionInfo info, TableSnapshotInputFormatImpl.InputSplit snapshot, String... hosts) {
      super(info.getStartKey(), info.getEndKey(), hosts);
      this.info = info;
      this.snapshot = snapshot;
    }
  }

  private final Configuration conf;
  private final TableSettings settings;
  private final Connection connection;
  private final Admin admin;

  /** The HFiles that the table will adopt that is now written; null where there are none. */
  private Path loaded;

  private int parts;

  Tables(Configuration given) throws IOException {
    this(ConnectionFactory.createConnection(HBaseConfiguration.create(given)));
  }

  /** Closes the connection when it is closed. */
  Tables(Connection connection) throws IOException {
    this.connection = connection;
    conf = connection.getConfiguration();
    settings = new TableSettings(conf);
    admin = connection.getAdmin();
  }

  /**
   * A scan of lines as jobs want it: it leaves the servers' caches to others. Families have one
   * column each; to name that too would make HBase seek in each row.
   *
   * @param rest whether it reads what follows the columns that are apart
   */
  static Scan scan(boolean rest) {
    Scan scan = new Scan().addFamily(FAMILY).setCacheBlocks(false);
    return rest ? scan.addFamily(REST_FAMILY) : scan;
  }

  /**
   * A get of a line: other lines of its block may be asked for next, so that servers keep it.
   *
   * @param rest whether it reads what follows the columns that are apart
   */
  static Get get(byte[] key, boolean rest) {
    Get get = new Get(key).addFamily(FAMILY);
    return rest ? get.addFamily(REST_FAMILY) : get;
  }

  /** How many columns a table has apart from the others; 0 if it keeps lines whole. */
  static int apart(TableDescriptor table) {
    String columns = table.getValue(APART);
    return columns == null ? 0 : Integer.parseInt(columns);
  }

  @Override
  public Configuration conf() {
    return conf;
  }

  TableSettings settings() {
    return settings;
  }

  Admin admin() {
    return admin;
  }

  @Override
  public void give(JobContext job) throws IOException {
    JobAccess.give(job, connection);
  }

  @Override
  public List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    for (TableName table : admin.listTableNames()) {
      names.add(table.getNameAsString());
    }
    return names;
  }

  @Override
  public boolean exists(String table) throws IOException {
    return admin.tableExists(TableName.valueOf(table));
  }

  private TableName existing(String table) throws IOException {
    if (!exists(table)) {
      throw new FileNotFoundException("there is no table " + table);
    }
    return TableName.valueOf(table);
  }

  @Override
  public int apart(String table) throws IOException {
    return apart(admin.getDescriptor(existing(table)));
  }

  @Override
  public List<Place> regions(String table) throws IOException {
    List<RegionInfo> regions = new ArrayList<>(admin.getRegions(existing(table)));
    regions.sort(RegionInfo.COMPARATOR);
    List<Place> known = new ArrayList<>();
    regions.forEach(region -> known.add(new Place(region, null)));
    return known;
  }

  @Override
  protected List<Place> places(String table) throws IOException {
    List<Place> places = new ArrayList<>();
    List<Place> regions = regions(table); // one that is not there is no snapshot either
    if (!getsRows()) {
      for (TableSnapshotInputFormatImpl.InputSplit part :
          Snapshots.splits(this, TableName.valueOf(table))) {
        places.add(new Place(part.getRegionInfo(), part, part.getLocations()));
      }
      return places;
    }
    try (RegionLocator locator = connection.getRegionLocator(TableName.valueOf(table))) {
      for (Place region : regions) {
        String host = locator.getRegionLocation(region.start).getHostname();
        places.add(new Place(region.info, null, host));
      }
    }
    return places;
  }

  @Override
  protected List<RegionRows> count(String table, List<Place> regions) throws IOException {
    boolean divided = apart(table) > 0;
    List<RegionRows> rows = new ArrayList<>();
    try (Table scanned = connection.getTable(TableName.valueOf(table))) {
      for (Place region : regions) {
        rows.add(RegionSamples.of(scanned, region.info, divided));
      }
    }
    return rows;
  }

  @Override
  protected byte[] files(Place region, RegionRows.Range range, boolean rest) throws IOException {
    return region.snapshot == null
        ? super.files(region, range, rest)
        : Snapshots.part(region.snapshot, range, rest);
  }

  /** A snapshot has no server to ask. */
  @Override
  protected boolean getsRows() {
    return settings.read() == TableSettings.Read.SCAN;
  }

  @Override
  protected String insteadOfLookup() {
    return ", or set " + TableSettings.READ + " to snapshot, which reads all";
  }

  @Override
  public Rows scan(String name, byte[] start, byte[] stop, boolean rest) throws IOException {
    Table table = connection.getTable(TableName.valueOf(name));
    ResultScanner scanner = table.getScanner(scan(rest).withStartRow(start).withStopRow(stop));
    return new Results(
        scanner::next,
        () -> {
          scanner.close();
          table.close();
        },
        rest);
  }

  @Override
  public Rows get(String name, List<byte[]> keys, boolean rest) throws IOException {
    List<Get> gets = new ArrayList<>();
    for (byte[] key : keys) {
      gets.add(get(key, rest));
    }
    try (Table table = connection.getTable(TableName.valueOf(name))) {
      Result[] got = table.get(gets);
      for (int at = 0; at < got.length; at++) {
        if (got[at].isEmpty()) {
          String key = Bytes.toStringBinary(keys.get(at));
          throw new IOException("table " + name + " has lost row " + key);
        }
      }
      Iterator<Result> left = Arrays.asList(got).iterator();
      return new Results(() -> left.hasNext() ? left.next() : null, () -> {}, rest);
    }
  }

  /** Whether the configuration tells where HBase's own files are; a client can do without. */
  static boolean knowsRoot(Configuration conf) {
    String root = conf.getTrimmed(ROOT, "");
    return !root.isEmpty() && new Path(root).toUri().getScheme() != null;
  }

  /**
   * The bytes of a region's files, without those that a compaction has replaced; where they can't
   * be read, what its server says, in MiB. Lines in its server's memory alone are one byte.
   */
  @Override
  public long bytes(Place region) throws IOException {
    long bytes = bytesOfFiles(region.info);
    return bytes == 0 && hasLines(region.info) ? 1 : bytes;
  }

  private long bytesOfFiles(RegionInfo region) throws IOException {
    try {
      if (knowsRoot(conf)) {
        return RegionFiles.bytes(conf, region);
      }
    } catch (AccessControlException e) {
      // They are HBase's alone.
    }
    try (RegionLocator locator = connection.getRegionLocator(region.getTable())) {
      return new RegionSizeCalculator(locator, admin).getRegionSize(region.getRegionName());
    }
  }

  /** Whether a region has any line, in files or in its server's memory. */
  private boolean hasLines(RegionInfo region) throws IOException {
    Scan first =
        scan(false).withStartRow(region.getStartKey()).withStopRow(region.getEndKey()).setLimit(1);
    try (Table table = connection.getTable(region.getTable());
        ResultScanner rows = table.getScanner(first)) {
      return rows.next() != null;
    } catch (NoSuchColumnFamilyException e) {
      return false; // a table of others, without lines
    }
  }

  @Override
  public void create(String table) throws IOException {
    if (exists(table)) {
      refuseOthers(table, "nothing is written into it; name another path, or remove the table");
      return;
    }
    TableName name = TableName.valueOf(table);
    // What somebody has left would be taken for this table's.
    Snapshots.drop(this, name);
    Load.discard(conf, Load.ofOutput(conf, name));
    TableDescriptor descriptor = descriptor(name, settings);
    byte[][] splits = RowKeys.splits(settings.regions(admin.getRegionServers().size()));
    try {
      admin.createTable(descriptor, splits.length == 0 ? null : splits);
    } catch (TableExistsException e) {
      // Another writer was quicker.
    }
  }

  /** Lines go to the region servers, or into HFiles that the table adopts when it is settled. */
  @Override
  protected LineWriter writer(String table, RowKeys keys, int apart) throws IOException {
    TableName name = TableName.valueOf(table);
    if (settings.load() == TableSettings.Load.PUTS) {
      return new PutWriter(connection.getBufferedMutator(name), keys, apart);
    }
    if (loaded == null) {
      loaded = directory(conf, name, "load-" + UUID.randomUUID());
      Load.prepare(this, loaded);
    }
    return new FileWriter(conf, name, loaded, "part-" + parts++, keys, apart);
  }

  /** A new table, whose regions stay as they were split before anything was written. */
  static TableDescriptor descriptor(TableName table, TableSettings settings) {
    TableDescriptorBuilder descriptor =
        TableDescriptorBuilder.newBuilder(table)
            .setSplitEnabled(false)
            .setDurability(settings.durability())
            .setValue(MARK, "lines")
            .setColumnFamily(family(FAMILY, settings));
    if (settings.apart() > 0) {
      descriptor
          .setColumnFamily(family(REST_FAMILY, settings))
          .setValue(APART, Integer.toString(settings.apart()));
    }
    return descriptor.build();
  }

  private static ColumnFamilyDescriptor family(byte[] name, TableSettings settings) {
    ColumnFamilyDescriptorBuilder family =
        ColumnFamilyDescriptorBuilder.newBuilder(name)
            .setMaxVersions(1)
            .setDataBlockEncoding(settings.encoding())
            .setCompressionType(settings.compression());
    if (!settings.policy().isEmpty()) {
      family.setStoragePolicy(settings.policy());
    }
    return family.build();
  }

  /**
   * Brings what was written into files, and if that is wanted, each region's into one. A server
   * that dies meanwhile is waited for as long as HBase's client waits for an operation: others get
   * its regions.
   */
  @Override
  public void settle(String name) throws IOException {
    TableName table = TableName.valueOf(name);
    if (loaded != null) {
      Load.finish(this, table, loaded);
      loaded = null;
    }
    admin.flush(table);
    if (settings.compaction() != TableSettings.Compaction.WAIT) {
      return;
    }
    long patienceMs =
        conf.getLong(
            HConstants.HBASE_CLIENT_OPERATION_TIMEOUT,
            HConstants.DEFAULT_HBASE_CLIENT_OPERATION_TIMEOUT);
    try {
      long heardNs = System.nanoTime();
      int left = REQUESTS;
      while (true) {
        try {
          List<byte[]> regions = scattered(table);
          if (regions.isEmpty()) {
            return;
          }
          if (left-- == 0) {
            throw new DoNotRetryIOException(
                "regions of " + table + " keep several files: their servers compact none of them");
          }
          compact(table, regions);
          heardNs = System.nanoTime();
        } catch (IOException e) {
          long silentMs = (System.nanoTime() - heardNs) / 1_000_000;
          if (!passes(e) || silentMs >= patienceMs) {
            throw e;
          }
          Thread.sleep(POLL_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + table + " was compacted", e);
    }
  }

  /** Whether it may go by itself: HMaster misses a server after a while, and moves its regions. */
  private static boolean passes(IOException e) {
    return e instanceof DoNotRetryRegionException || !(e instanceof DoNotRetryIOException);
  }

  /** Asks for compactions, and waits until none goes on. */
  private void compact(TableName table, List<byte[]> regions)
      throws IOException, InterruptedException {
    for (byte[] region : regions) {
      admin.majorCompactRegion(region);
    }
    do {
      Thread.sleep(POLL_MS);
    } while (admin.getCompactionState(table) != CompactionState.NONE);
  }

  /**
   * The names of a table's regions with more than one file.
   *
   * @throws IOException also where a region is with no server, so that nobody tells of its files
   */
  private List<byte[]> scattered(TableName table) throws IOException {
    List<byte[]> scattered = new ArrayList<>();
    int told = 0;
    for (ServerName server : admin.getRegionServers()) {
      for (RegionMetrics region : admin.getRegionMetrics(server, table)) {
        told++;
        if (region.getStoreFileCount() > region.getStoreCount()) {
          scattered.add(region.getRegionName());
        }
      }
    }
    int regions = admin.getRegions(table).size();
    if (told < regions) {
      throw new IOException("servers have " + told + " of the " + regions + " regions of " + table);
    }
    return scattered;
  }

  @Override
  public void empty(String table, Place region) throws IOException {
    empty(table, new Scan().withStartRow(region.start).withStopRow(region.stop));
  }

  @Override
  public void empty(String table, RowKeys keys) throws IOException {
    empty(table, new Scan().setStartStopRowForPrefixScan(keys.writer()));
  }

  /** Deletes rows as they are now: what is put under the same keys afterwards stays. */
  private void empty(String table, Scan rows) throws IOException {
    refuseOthers(table, "no row of it is removed");
    TableName name = TableName.valueOf(table);
    Scan keys = rows.setCacheBlocks(false).setFilter(new KeyOnlyFilter());
    try (Table scanned = connection.getTable(name);
        ResultScanner scanner = scanned.getScanner(keys);
        BufferedMutator deleted = connection.getBufferedMutator(name)) {
      for (Result row : scanner) {
        long newest = Arrays.stream(row.rawCells()).mapToLong(Cell::getTimestamp).max().orElse(0);
        deleted.mutate(new Delete(row.getRow(), newest));
      }
    }
  }

  /**
   * Removes a table with its snapshots, and what jobs have made of these. The table goes last:
   * where anything can't be removed, it is found again.
   */
  @Override
  public void drop(String name) throws IOException {
    refuseOthers(name, "it is not removed");
    TableName table = TableName.valueOf(name);
    Snapshots.drop(this, table);
    Path folder = directory(conf, table, "all").getParent();
    FileSystem files = folder.getFileSystem(conf);
    files.delete(folder, true);
    try {
      if (files.listStatus(folder.getParent()).length == 0) {
        files.delete(folder.getParent(), false);
      }
    } catch (FileNotFoundException | PathIsNotEmptyDirectoryException e) {
      // It was never made, or has just got another table's.
    }
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
    admin.deleteTable(table);
  }

  private void refuseOthers(String table, String so) throws IOException {
    if (admin.getDescriptor(TableName.valueOf(table)).getValue(MARK) == null) {
      throw new FileAlreadyExistsException(
          "table " + table + " is there already, and is none of Assay's: " + so);
    }
  }

  /** A directory for files on their way into or out of a table, not below HBase's own. */
  static Path directory(Configuration conf, TableName table, String purpose) throws IOException {
    FileSystem files =
        knowsRoot(conf) ? CommonFSUtils.getRootDir(conf).getFileSystem(conf) : FileSystem.get(conf);
    return new Path(files.getHomeDirectory(), WORK + "/" + table + "/" + purpose);
  }

  @Override
  public void close() throws IOException {
    admin.close();
    connection.close();
  }
}

package org.assay.hbase;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;

/**
 * Rows of a table, or of a snapshot of it, that one task reads: some keys of a region, or of
 * several.
 *
 * <p>Its length is about that of the lines, and 1 at least: whoever skips splits without bytes
 * would skip rows that came in the meantime, or all of a snapshot, whose splits HBase 2.6 gives no
 * length (HBASE-29272).
 */
public final class RowSplit extends InputSplit implements Writable {
  /**
   * Keys from the first up to but not with the last; empty ones are the table's ends. A row alone
   * has its key at both ends.
   */
  static final class Part {
    final byte[] start;
    final byte[] stop;

    /** Where to read them in a snapshot, null if they are to be read from the servers. */
    final TableSnapshotInputFormatImpl.InputSplit snapshot;

    Part(byte[] start, byte[] stop, TableSnapshotInputFormatImpl.InputSplit snapshot) {
      this.start = start;
      this.stop = stop;
      this.snapshot = snapshot;
    }

    static Part ofTable(RegionRows.Range range) {
      return new Part(range.start, range.stop, null);
    }

    static Part ofRow(byte[] key) {
      return new Part(key, key, null);
    }

    boolean isRow() {
      return start.length > 0 && Bytes.equals(start, stop);
    }

    /**
     * Some keys of a region in a snapshot.
     *
     * @param region the whole of it
     * @param rest whether lines are wanted with what follows the columns that are apart
     */
    @SuppressWarnings("deprecation") // HBase 2.6 takes nothing newer
    static Part ofSnapshot(
        RegionRows.Range range, TableSnapshotInputFormatImpl.InputSplit region, boolean rest)
        throws IOException {
      Scan scan = Tables.scan(rest).withStartRow(range.start).withStopRow(range.stop);
      return new Part(
          range.start,
          range.stop,
          new TableSnapshotInputFormatImpl.InputSplit(
              region.getTableDescriptor(),
              region.getRegionInfo(),
              List.of(region.getLocations()),
              scan,
              new Path(region.getRestoreDir())));
    }
  }

  private final List<Part> parts = new ArrayList<>();
  private TableName table;
  private String[] hosts;
  private long rows;
  private long bytes;
  private boolean rest;

  /** Empty, to be read. */
  public RowSplit() {}

  /** Of a table, on these hosts; {@code rows} and {@code bytes} are about what it has. */
  RowSplit(TableName table, List<Part> parts, String[] hosts, long rows, long bytes, boolean rest) {
    this.table = table;
    this.parts.addAll(parts);
    this.hosts = hosts;
    this.rows = rows;
    this.bytes = bytes;
    this.rest = rest;
  }

  /** Whether lines are wanted with what follows the columns that are apart. */
  boolean rest() {
    return rest;
  }

  TableName table() {
    return table;
  }

  List<Part> parts() {
    return parts;
  }

  /** About how many rows it has. */
  long rows() {
    return rows;
  }

  @Override
  public long getLength() {
    return Math.max(1, bytes);
  }

  @Override
  public String[] getLocations() {
    return hosts.clone();
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeUTF(table.getNameAsString());
    out.writeInt(hosts.length);
    for (String host : hosts) {
      out.writeUTF(host);
    }
    out.writeLong(rows);
    out.writeLong(bytes);
    out.writeBoolean(rest);
    out.writeInt(parts.size());
    for (Part part : parts) {
      Bytes.writeByteArray(out, part.start);
      Bytes.writeByteArray(out, part.stop);
      out.writeBoolean(part.snapshot != null);
      if (part.snapshot != null) {
        part.snapshot.write(out);
      }
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = TableName.valueOf(in.readUTF());
    hosts = new String[in.readInt()];
    for (int i = 0; i < hosts.length; i++) {
      hosts[i] = in.readUTF();
    }
    rows = in.readLong();
    bytes = in.readLong();
    rest = in.readBoolean();
    parts.clear();
    for (int left = in.readInt(); left > 0; left--) {
      byte[] start = Bytes.readByteArray(in);
      byte[] stop = Bytes.readByteArray(in);
      TableSnapshotInputFormatImpl.InputSplit snapshot = null;
      if (in.readBoolean()) {
        snapshot = new TableSnapshotInputFormatImpl.InputSplit();
        snapshot.readFields(in);
      }
      parts.add(new Part(start, stop, snapshot));
    }
  }
}

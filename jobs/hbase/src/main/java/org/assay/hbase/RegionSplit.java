package org.assay.hbase;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.mapreduce.TableSnapshotInputFormatImpl;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;

/**
 * A region of a table, or of a snapshot of it, that one task reads.
 *
 * <p>Its length is that of its files, and 1 at least: whoever skips splits without bytes would skip
 * rows that are still in a server's memory, or all of a snapshot, whose splits HBase 2.6 gives no
 * length (HBASE-29272).
 */
public final class RegionSplit extends InputSplit implements Writable {
  private TableName table;
  private byte[] start;
  private byte[] stop;
  private String[] hosts;
  private long bytes;
  private TableSnapshotInputFormatImpl.InputSplit snapshot;

  /** Empty, to be read. */
  public RegionSplit() {}

  static RegionSplit ofTable(RegionInfo region, String host, long bytes) {
    RegionSplit split = new RegionSplit();
    split.table = region.getTable();
    split.start = region.getStartKey();
    split.stop = region.getEndKey();
    split.hosts = new String[] {host};
    split.bytes = bytes;
    return split;
  }

  static RegionSplit ofSnapshot(TableSnapshotInputFormatImpl.InputSplit part, long bytes) {
    RegionInfo region = part.getRegionInfo();
    RegionSplit split = ofTable(region, "", bytes);
    split.hosts = part.getLocations();
    split.snapshot = part;
    return split;
  }

  TableName table() {
    return table;
  }

  byte[] start() {
    return start;
  }

  byte[] stop() {
    return stop;
  }

  /** Its part of a snapshot, null if it is to be read from the servers. */
  TableSnapshotInputFormatImpl.InputSplit snapshot() {
    return snapshot;
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
    Bytes.writeByteArray(out, start);
    Bytes.writeByteArray(out, stop);
    out.writeInt(hosts.length);
    for (String host : hosts) {
      out.writeUTF(host);
    }
    out.writeLong(bytes);
    out.writeBoolean(snapshot != null);
    if (snapshot != null) {
      snapshot.write(out);
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = TableName.valueOf(in.readUTF());
    start = Bytes.readByteArray(in);
    stop = Bytes.readByteArray(in);
    hosts = new String[in.readInt()];
    for (int i = 0; i < hosts.length; i++) {
      hosts[i] = in.readUTF();
    }
    bytes = in.readLong();
    snapshot = null;
    if (in.readBoolean()) {
      snapshot = new TableSnapshotInputFormatImpl.InputSplit();
      snapshot.readFields(in);
    }
  }
}

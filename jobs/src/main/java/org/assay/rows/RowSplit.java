package org.assay.rows;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;

/**
 * Rows of a table that one task reads: some keys of a region, or of several.
 *
 * <p>Its length is about that of the lines, and 1 at least: whoever skips splits without bytes
 * would skip rows that came in the meantime, or all that a store gives no length.
 */
public final class RowSplit extends InputSplit implements Writable {
  private static final byte[] NOTHING = {};

  /**
   * Keys from the first up to but not with the last; empty ones are the table's ends. A row alone
   * has its key at both ends.
   */
  public static final class Part {
    final byte[] start;
    final byte[] stop;

    /** What stands for them where they are read without servers, in the store's own form. */
    final byte[] files;

    Part(byte[] start, byte[] stop, byte[] files) {
      this.start = start;
      this.stop = stop;
      this.files = files;
    }

    /** Keys that servers are asked for. */
    public Part(byte[] start, byte[] stop) {
      this(start, stop, NOTHING);
    }

    boolean isRow() {
      return start.length > 0 && Arrays.equals(start, stop);
    }
  }

  private final List<Part> parts = new ArrayList<>();
  private String table;
  private String[] hosts;
  private long rows;
  private long bytes;
  private boolean rest;

  /** Empty, to be read. */
  public RowSplit() {}

  /** Of a table, on these hosts; {@code rows} and {@code bytes} are about what it has. */
  public RowSplit(
      String table, List<Part> parts, String[] hosts, long rows, long bytes, boolean rest) {
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

  String table() {
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
    out.writeUTF(table);
    out.writeInt(hosts.length);
    for (String host : hosts) {
      out.writeUTF(host);
    }
    out.writeLong(rows);
    out.writeLong(bytes);
    out.writeBoolean(rest);
    out.writeInt(parts.size());
    for (Part part : parts) {
      write(part.start, out);
      write(part.stop, out);
      write(part.files, out);
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = in.readUTF();
    hosts = new String[in.readInt()];
    for (int i = 0; i < hosts.length; i++) {
      hosts[i] = in.readUTF();
    }
    rows = in.readLong();
    bytes = in.readLong();
    rest = in.readBoolean();
    parts.clear();
    for (int left = in.readInt(); left > 0; left--) {
      parts.add(new Part(read(in), read(in), read(in)));
    }
  }

  private static void write(byte[] key, DataOutput out) throws IOException {
    out.writeInt(key.length);
    out.write(key);
  }

  private static byte[] read(DataInput in) throws IOException {
    int length = in.readInt();
    if (length == 0) {
      return NOTHING; // tasks hold many parts
    }
    byte[] key = new byte[length];
    in.readFully(key);
    return key;
  }
}

package org.assay.jobs.degreeorder;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.assay.jobs.graph.IdList;

/**
 * A list of vertex numbers in few bytes: each as its difference from the one before it, in 7 bits
 * per byte with the sign in the lowest bit. Any order is kept; ascending lists are the shortest.
 * Serialized as the number of bytes and the bytes. Mutable, to be reused from record to record.
 */
public final class PackedIds implements Writable {
  private static final int LONGEST_ID = 10;

  private byte[] bytes = new byte[64];
  private int length;
  private long last;

  /** Makes the list empty. */
  public void clear() {
    length = 0;
    last = 0;
  }

  /** Appends a number; not to a list that was read. */
  public void add(long id) {
    if (length > bytes.length - LONGEST_ID) {
      bytes = Arrays.copyOf(bytes, Math.addExact(bytes.length, Math.max(bytes.length, LONGEST_ID)));
    }
    long difference = id - last;
    long rest = difference << 1 ^ difference >> (Long.SIZE - 1);
    while ((rest & ~0x7fL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
    last = id;
  }

  /** Makes this the same list as another one. */
  public void pack(IdList ids) {
    clear();
    for (int i = 0; i < ids.size(); i++) {
      add(ids.get(i));
    }
  }

  /** Makes another list the same as this one. */
  public void unpack(IdList into) {
    into.clear();
    long id = 0;
    int at = 0;
    while (at < length) {
      long rest = 0;
      int shift = 0;
      byte part;
      do {
        part = bytes[at++];
        rest |= (part & 0x7fL) << shift;
        shift += 7;
      } while (part < 0);
      id += rest >>> 1 ^ -(rest & 1);
      into.add(id);
    }
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVInt(out, length);
    out.write(bytes, 0, length);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    length = WritableUtils.readVInt(in);
    if (length > bytes.length) {
      bytes = new byte[length];
    }
    in.readFully(bytes, 0, length);
  }
}

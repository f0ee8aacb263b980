package org.assay.hbase;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The keys of a writer's rows: two bytes that spread writers over the regions, four that tell
 * writers apart, and eight that count the rows. So the last key of a writer tells how many rows it
 * wrote, and every key before it is known.
 */
final class RowKeys {
  static final int LENGTH = Short.BYTES + Integer.BYTES + Long.BYTES;

  private static final int COUNT_AT = Short.BYTES + Integer.BYTES;
  private static final int PREFIXES = 1 << Short.SIZE;

  private final byte[] key = new byte[LENGTH];
  private long next;

  /**
   * Of one writer.
   *
   * @param writer its number; where two have the same place, the rows of the lower come first
   * @param place where its rows lie among the {@code places} that share the table evenly
   */
  RowKeys(int writer, int place, int places) {
    Bytes.putShort(key, 0, (short) prefix(place, places));
    Bytes.putInt(key, Short.BYTES, writer);
  }

  /** A number for a writer that has a name. */
  static int number(String writer) {
    CRC32 name = new CRC32();
    name.update(writer.getBytes(StandardCharsets.UTF_8));
    return (int) name.getValue();
  }

  /** The next key: the caller's to keep. */
  byte[] next() {
    Bytes.putLong(key, COUNT_AT, next++);
    return key.clone();
  }

  /** What all keys of this writer begin with, and no other's. */
  byte[] writer() {
    return writer(key);
  }

  /** Whether a key is one of these. */
  static boolean isKey(byte[] key) {
    return key.length == LENGTH;
  }

  /** What all keys of the writer of this one begin with. */
  static byte[] writer(byte[] key) {
    return Bytes.head(key, COUNT_AT);
  }

  /** How many rows the writer had written before the one with this key. */
  static long count(byte[] key) {
    return Bytes.toLong(key, COUNT_AT);
  }

  /** The key of a writer's row, before which it has written {@code count} others. */
  static byte[] key(byte[] writer, long count) {
    return Bytes.add(writer, Bytes.toBytes(count));
  }

  /**
   * How many keys of a writer come before the start of a region that has rows of it: none unless
   * somebody else has split the table there.
   */
  static long before(byte[] writer, byte[] start) {
    if (!Bytes.startsWith(start, writer)) {
      return 0;
    }
    long count = Bytes.toLong(Arrays.copyOfRange(start, COUNT_AT, LENGTH)); // zeros at the end
    return start.length > LENGTH ? count + 1 : count;
  }

  /** The keys at which a table of so many regions is split: one fewer. */
  static byte[][] splits(int regions) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = Bytes.toBytes((short) prefix(i, regions));
    }
    return splits;
  }

  private static int prefix(int place, int places) {
    return (int) ((long) place * PREFIXES / places);
  }
}

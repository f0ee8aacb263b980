package org.assay.rows;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * The keys of a writer's rows: two bytes that spread writers over the regions, four that tell
 * writers apart, and eight that count the rows. So the last key of a writer tells how many rows it
 * wrote, and every key before it is known.
 */
public final class RowKeys {
  static final int LENGTH = Short.BYTES + Integer.BYTES + Long.BYTES;

  private static final int COUNT_AT = Short.BYTES + Integer.BYTES;
  private static final int PREFIXES = 1 << Short.SIZE;

  private final byte[] key = new byte[LENGTH];
  private final ByteBuffer counted = ByteBuffer.wrap(key);
  private long next;

  /**
   * Of one writer.
   *
   * @param writer its number; where two have the same place, the rows of the lower come first
   * @param place where its rows lie among the {@code places} that share the table evenly
   */
  public RowKeys(int writer, int place, int places) {
    ByteBuffer.wrap(key).putShort((short) prefix(place, places)).putInt(writer);
  }

  /** A number for a writer that has a name. */
  public static int number(String writer) {
    CRC32 name = new CRC32();
    name.update(writer.getBytes(StandardCharsets.UTF_8));
    return (int) name.getValue();
  }

  /** The next key: the caller's to keep. */
  public byte[] next() {
    counted.putLong(COUNT_AT, next++);
    return key.clone();
  }

  /** What all keys of this writer begin with, and no other's. */
  public byte[] writer() {
    return writer(key);
  }

  /** Whether a key is one of these. */
  public static boolean isKey(byte[] key) {
    return key.length == LENGTH;
  }

  /** What all keys of the writer of this one begin with. */
  public static byte[] writer(byte[] key) {
    return Arrays.copyOf(key, COUNT_AT);
  }

  /** How many rows the writer had written before the one with this key. */
  public static long count(byte[] key) {
    return ByteBuffer.wrap(key).getLong(COUNT_AT);
  }

  /** The key of a writer's row, before which it has written {@code count} others. */
  public static byte[] key(byte[] writer, long count) {
    byte[] key = Arrays.copyOf(writer, LENGTH);
    ByteBuffer.wrap(key).putLong(COUNT_AT, count);
    return key;
  }

  /**
   * How many keys of a writer come before the start of a region that has rows of it: none unless
   * somebody else has split the table there.
   */
  public static long before(byte[] writer, byte[] start) {
    if (start.length < COUNT_AT || !Arrays.equals(writer(start), writer)) {
      return 0;
    }
    long count = count(Arrays.copyOf(start, LENGTH)); // zeros at the end
    return start.length > LENGTH ? count + 1 : count;
  }

  /** The keys at which a table of so many regions is split: one fewer. */
  public static byte[][] splits(int regions) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = ByteBuffer.allocate(Short.BYTES).putShort((short) prefix(i, regions)).array();
    }
    return splits;
  }

  /** The place of a writer among so many that share a table evenly. */
  public static int place(byte[] writer, int places) {
    int prefix = ByteBuffer.wrap(writer).getShort() & 0xFFFF;
    return (int) (((prefix + 1L) * places - 1) >> Short.SIZE);
  }

  private static int prefix(int place, int places) {
    return (int) ((long) place * PREFIXES / places);
  }
}

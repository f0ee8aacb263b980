package org.assay.hbase;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The keys of a writer's rows: two bytes that spread writers over the regions, four that tell
 * writers apart, and eight that count the rows. A writer that writes the same again has the same
 * keys: a task's second attempt replaces the rows of its first.
 */
final class RowKeys {
  static final int LENGTH = Short.BYTES + Integer.BYTES + Long.BYTES;

  private static final int PREFIXES = 1 << Short.SIZE;

  private final byte[] key = new byte[LENGTH];
  private long next;

  /**
   * Of one writer.
   *
   * @param place where its rows lie among the {@code places} that share the table evenly
   */
  RowKeys(String writer, int place, int places) {
    Bytes.putShort(key, 0, (short) prefix(place, places));
    CRC32 name = new CRC32();
    name.update(writer.getBytes(StandardCharsets.UTF_8));
    Bytes.putInt(key, Short.BYTES, (int) name.getValue());
  }

  /** The next key: the caller's to keep. */
  byte[] next() {
    Bytes.putLong(key, Short.BYTES + Integer.BYTES, next++);
    return key.clone();
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

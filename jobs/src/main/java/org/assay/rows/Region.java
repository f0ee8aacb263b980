package org.assay.rows;

/**
 * Keys of a table that lie together: from the first up to but not with the last, where empty ones
 * are the table's ends. Its hosts are those that have it, or none where that was not asked.
 */
public class Region {
  public final byte[] start;
  public final byte[] stop;
  final String[] hosts;

  public Region(byte[] start, byte[] stop, String... hosts) {
    this.start = start;
    this.stop = stop;
    this.hosts = hosts;
  }
}

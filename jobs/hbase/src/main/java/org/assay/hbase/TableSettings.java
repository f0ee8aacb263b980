package org.assay.hbase;

import java.util.Arrays;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;

/** The properties that say how tables are made, written and read. */
final class TableSettings {
  /** {@code puts} (to the region servers) or {@code bulk} (HFiles that they adopt). */
  static final String LOAD = "hbase.assay.load";

  /** {@code scan} (by the region servers) or {@code snapshot} (the files, without them). */
  static final String READ = "hbase.assay.read";

  /** What a put waits for: its log is on the disks, with the DataNodes, or not written at all. */
  static final String SYNC = "hbase.assay.sync";

  /**
   * Whether whoever has written a table leaves compactions to HBase ({@code run-on}), or has it
   * compacted and waits for that ({@code wait}).
   */
  static final String COMPACTION = "hbase.assay.compaction";

  /** How many regions a new table begins with; by default some for each region server. */
  static final String REGIONS = "hbase.assay.regions";

  /** HDFS' storage policy of a new table's files; empty for that of their directory. */
  static final String POLICY = "hbase.assay.policy";

  /** How the keys of a new table's blocks are encoded. */
  static final String ENCODING = "hbase.assay.encoding";

  /** How a new table's blocks are compressed. */
  static final String COMPRESSION = "hbase.assay.compression";

  /** How a new table keeps lines: {@code line} (whole) or {@code used-apart}. */
  static final String COLUMNS = "hbase.assay.columns";

  /** How many columns of the lines that are now written jobs will read; 0 where nobody knows. */
  static final String USED = "hbase.assay.used";

  static final int REGIONS_PER_SERVER = 4;

  /** More would leave some without a key. */
  static final int MOST_REGIONS = 1 << 16;

  enum Load {
    PUTS,
    BULK
  }

  enum Read {
    SCAN,
    SNAPSHOT
  }

  enum Sync {
    HSYNC(Durability.FSYNC_WAL),
    HFLUSH(Durability.SYNC_WAL),
    SKIPPED(Durability.SKIP_WAL);

    final Durability durability;

    Sync(Durability durability) {
      this.durability = durability;
    }
  }

  enum Compaction {
    RUN_ON,
    WAIT
  }

  /** What needs no library but Java's and Hadoop's. */
  enum Codec {
    NONE(Compression.Algorithm.NONE),
    GZ(Compression.Algorithm.GZ),
    SNAPPY(Compression.Algorithm.SNAPPY);

    final Compression.Algorithm algorithm;

    Codec(Compression.Algorithm algorithm) {
      this.algorithm = algorithm;
    }
  }

  enum Columns {
    LINE,
    USED_APART
  }

  private final Configuration conf;

  TableSettings(Configuration conf) {
    this.conf = conf;
  }

  Load load() {
    return choice(LOAD, Load.PUTS);
  }

  Read read() {
    return choice(READ, Read.SCAN);
  }

  /** That of a new table: where nothing is said, the servers' own ({@code hbase.wal.hsync}). */
  Durability durability() {
    boolean said = !conf.getTrimmed(SYNC, "").isEmpty();
    return said ? choice(SYNC, Sync.HFLUSH).durability : Durability.USE_DEFAULT;
  }

  Compaction compaction() {
    return choice(COMPACTION, Compaction.RUN_ON);
  }

  DataBlockEncoding encoding() {
    return choice(ENCODING, DataBlockEncoding.NONE);
  }

  Compression.Algorithm compression() {
    return choice(COMPRESSION, Codec.NONE).algorithm;
  }

  /** How many columns a new table has apart from the others; 0 if it keeps lines whole. */
  int apart() {
    return choice(COLUMNS, Columns.LINE) == Columns.USED_APART ? conf.getInt(USED, 0) : 0;
  }

  String policy() {
    return conf.getTrimmed(POLICY, "");
  }

  /** How many regions a new table has where there are so many region servers. */
  int regions(int servers) {
    int usual = Math.min(MOST_REGIONS, Math.max(1, servers) * REGIONS_PER_SERVER);
    int regions = conf.getInt(REGIONS, usual);
    if (regions < 1 || regions > MOST_REGIONS) {
      throw new IllegalArgumentException(
          "property " + REGIONS + " must be from 1 to " + MOST_REGIONS + ", got " + regions);
    }
    return regions;
  }

  private <E extends Enum<E>> E choice(String property, E usual) {
    String given = conf.getTrimmed(property, shown(usual));
    for (E constant : usual.getDeclaringClass().getEnumConstants()) {
      if (shown(constant).equals(given)) {
        return constant;
      }
    }
    Object[] choices =
        Arrays.stream(usual.getDeclaringClass().getEnumConstants())
            .map(TableSettings::shown)
            .toArray();
    throw new IllegalArgumentException(
        "property " + property + " must be one of " + Arrays.toString(choices) + ", got " + given);
  }

  private static String shown(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

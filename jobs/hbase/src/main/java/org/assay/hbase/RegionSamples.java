package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.assay.rows.RegionRows;
import org.assay.rows.RowKeys;

/**
 * Rows of a region that stand for all: a writer's last key counts its rows, and some at several
 * places among them tell how long lines are.
 */
final class RegionSamples {
  /** Lines may be longer at one end of what a writer wrote than at the other. */
  private static final int PLACES = 4;

  private static final int SAMPLE = 16;

  private RegionSamples() {}

  /**
   * What a region has, by short scans for each writer: one backwards, from the end of what it
   * wrote, and one at each of several places.
   *
   * @param divided whether the table has columns of its lines apart; the lines count whole
   */
  static RegionRows of(Table table, RegionInfo region, boolean divided) throws IOException {
    List<RegionRows.Run> runs = new ArrayList<>();
    byte[] start = region.getStartKey();
    byte[] end = region.getEndKey();
    do {
      Scan backwards =
          Tables.scan(divided)
              .setReversed(true)
              .withStartRow(end, false)
              .withStopRow(start, true)
              .setCaching(1)
              .setLimit(1);
      Sample last = new Sample();
      last.take(table, backwards);
      if (last.key == null || !RowKeys.isKey(last.key)) {
        break; // there are no more, or they are another's
      }
      byte[] writer = RowKeys.writer(last.key);
      runs.add(run(table, last, writer, RowKeys.before(writer, start), divided));
      end = RowKeys.key(writer, 0);
    } while (Bytes.compareTo(start, end) < 0);
    Collections.reverse(runs);
    return new RegionRows(start, region.getEndKey(), runs);
  }

  private static RegionRows.Run run(
      Table table, Sample last, byte[] writer, long first, boolean divided) throws IOException {
    long end = RowKeys.count(last.key) + 1;
    long rows = end - first;
    boolean all = rows <= PLACES * SAMPLE;
    int limit = all ? PLACES * SAMPLE : SAMPLE;
    Sample sample = new Sample();
    for (int place = 0; place < (all ? 1 : PLACES); place++) {
      long at = all ? first : first + (long) (rows * (place + 0.5) / PLACES);
      Scan sampled =
          Tables.scan(divided)
              .withStartRow(RowKeys.key(writer, at))
              .withStopRow(RowKeys.key(writer, end))
              .setCaching(limit)
              .setLimit(limit);
      sample.take(table, sampled);
    }
    Sample known = sample.rows == 0 ? last : sample; // there may be gaps
    return new RegionRows.Run(writer, first, rows, Math.max(1, (long) (known.mean() * rows)));
  }

  /** The bytes of some lines, with their ends. */
  private static final class Sample {
    /** Of the last of them; null before there is one. */
    private byte[] key;

    private long rows;
    private long bytes;

    void take(Table table, Scan scan) throws IOException {
      try (ResultScanner scanner = table.getScanner(scan)) {
        for (Result row : scanner) {
          key = row.getRow();
          rows++;
          for (Cell cell : row.rawCells()) {
            bytes += cell.getValueLength();
          }
          bytes++;
        }
      }
    }

    double mean() {
      return (double) bytes / rows;
    }
  }
}

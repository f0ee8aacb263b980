package org.assay.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * About how many rows a region has, and how many bytes their lines, by writer: a writer's last key
 * counts its rows, and the last of these stand for all. It is good enough to share a table evenly;
 * whatever it misses lies in some part all the same.
 */
final class RegionRows {
  private static final int SAMPLE = 16;

  /**
   * A share of a file that is larger by less than this is one split too, as with Hadoop's files.
   */
  private static final double SLOP = 0.1;

  /** The rows that one writer left. */
  static final class Run {
    final byte[] writer;
    final long rows;
    final long bytes;

    Run(byte[] writer, long rows, long bytes) {
      this.writer = writer;
      this.rows = rows;
      this.bytes = bytes;
    }
  }

  /** Keys of one region, from the first up to but not with the last. */
  static final class Range {
    final int region;
    final byte[] start;
    final byte[] stop;
    final long rows;
    final long bytes;

    Range(int region, byte[] start, byte[] stop, long rows, long bytes) {
      this.region = region;
      this.start = start;
      this.stop = stop;
      this.rows = rows;
      this.bytes = bytes;
    }
  }

  final byte[] start;
  final byte[] stop;
  final List<Run> runs;

  RegionRows(byte[] start, byte[] stop, List<Run> runs) {
    this.start = start;
    this.stop = stop;
    this.runs = runs;
  }

  /**
   * Of a region, by one short scan for each writer: backwards, from the end of what it wrote.
   *
   * @param divided whether the table has columns of its lines apart; the lines count whole
   */
  static RegionRows of(Table table, RegionInfo region, boolean divided) throws IOException {
    List<Run> runs = new ArrayList<>();
    byte[] end = region.getEndKey();
    while (true) {
      Scan last =
          Tables.scan(divided)
              .setReversed(true)
              .withStartRow(end, false)
              .withStopRow(region.getStartKey(), true)
              .setCaching(SAMPLE)
              .setLimit(SAMPLE);
      Run run = run(table, last);
      if (run == null) {
        break;
      }
      runs.add(run);
      end = RowKeys.key(run.writer, 0);
    }
    Collections.reverse(runs);
    return new RegionRows(region.getStartKey(), region.getEndKey(), runs);
  }

  /**
   * The writer of the row that a scan finds first; null where it finds none, or one of another's.
   */
  private static Run run(Table table, Scan last) throws IOException {
    byte[] writer = null;
    long rows = 0;
    long sampled = 0;
    long bytes = 0;
    try (ResultScanner scanner = table.getScanner(last)) {
      for (Result row : scanner) {
        byte[] key = row.getRow();
        if (!RowKeys.isKey(key)) {
          break;
        }
        if (writer == null) {
          writer = RowKeys.writer(key);
          rows = RowKeys.count(key) + 1;
        } else if (!Bytes.equals(writer, RowKeys.writer(key))) {
          break;
        }
        sampled++;
        for (Cell cell : row.rawCells()) {
          bytes += cell.getValueLength();
        }
        bytes++;
      }
    }
    return writer == null ? null : new Run(writer, rows, Math.max(1, bytes * rows / sampled));
  }

  /**
   * Cuts regions into parts of about as many bytes each, of which none has more than {@code
   * partBytes} but by a tenth. All keys of the regions are in exactly one part.
   *
   * @param regions in the order of their keys; a range has their numbers in this list
   */
  static List<List<Range>> cut(List<RegionRows> regions, long partBytes) {
    long bytes = 0;
    long rows = 0;
    for (RegionRows region : regions) {
      for (Run run : region.runs) {
        bytes += run.bytes;
        rows += run.rows;
      }
    }
    long parts = Math.min(rows, (long) Math.ceil((double) bytes / partBytes - SLOP));
    Cutter cutter = new Cutter((double) bytes / Math.max(1, parts), Math.max(1, parts));
    for (int region = 0; region < regions.size(); region++) {
      cutter.add(region, regions.get(region));
    }
    return cutter.finish();
  }

  /** Goes through regions in order, and begins a part wherever one has its share. */
  private static final class Cutter {
    private final List<List<Range>> parts = new ArrayList<>();
    private final double share;
    private final long wanted;
    private List<Range> part = new ArrayList<>();
    private long cuts;
    private long passedBytes;

    Cutter(double share, long wanted) {
      this.share = share;
      this.wanted = wanted;
    }

    void add(int number, RegionRows region) {
      byte[] from = region.start;
      long rows = 0;
      long bytes = 0;
      for (Run run : region.runs) {
        long passedRows = 0;
        while (cuts + 1 < wanted) {
          long at = (long) ((share * (cuts + 1) - passedBytes) / run.bytes * run.rows);
          if (at >= run.rows) {
            break;
          }
          cuts++;
          byte[] key = RowKeys.key(run.writer, at);
          boolean atStart = at == 0 && Arrays.equals(from, region.start) && rows == 0;
          if (atStart || Bytes.equals(from, key)) {
            endPart();
            continue;
          }
          rows += at - passedRows;
          bytes += bytes(run, at) - bytes(run, passedRows);
          part.add(new Range(number, from, key, rows, bytes));
          endPart();
          from = key;
          passedRows = at;
          rows = 0;
          bytes = 0;
        }
        rows += run.rows - passedRows;
        bytes += run.bytes - bytes(run, passedRows);
        passedBytes += run.bytes;
      }
      part.add(new Range(number, from, region.stop, rows, bytes));
    }

    private static long bytes(Run run, long rows) {
      return (long) ((double) run.bytes / run.rows * rows);
    }

    private void endPart() {
      if (!part.isEmpty()) {
        parts.add(part);
        part = new ArrayList<>();
      }
    }

    List<List<Range>> finish() {
      endPart();
      return parts;
    }
  }
}

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
 * counts its rows, and some at several places among them stand for all. It is good enough to share
 * a table evenly; whatever it misses lies in some part all the same.
 */
final class RegionRows {
  /** Lines may be longer at one end of what a writer wrote than at the other. */
  private static final int PLACES = 4;

  private static final int SAMPLE = 16;

  /**
   * A share of a file that is larger by less than this is one split too, as with Hadoop's files.
   */
  private static final double SLOP = 0.1;

  /** A part that would end this near to a region's end, as a fraction of the part, ends there. */
  private static final double NEAR = 0.04;

  /** The rows that one writer left in a region, of which the first has so many before it. */
  static final class Run {
    final byte[] writer;
    final long first;
    final long rows;
    final long bytes;

    Run(byte[] writer, long first, long rows, long bytes) {
      this.writer = writer;
      this.first = first;
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
   * Of a region, by short scans for each writer: one backwards, from the end of what it wrote, and
   * one at each of several places.
   *
   * @param divided whether the table has columns of its lines apart; the lines count whole
   */
  static RegionRows of(Table table, RegionInfo region, boolean divided) throws IOException {
    List<Run> runs = new ArrayList<>();
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

  private static Run run(Table table, Sample last, byte[] writer, long first, boolean divided)
      throws IOException {
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
    return new Run(writer, first, rows, Math.max(1, (long) (known.mean() * rows)));
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

  private long bytes() {
    long bytes = 0;
    for (Run run : runs) {
      bytes += run.bytes;
    }
    return bytes;
  }

  /**
   * Cuts regions into parts of about as many bytes each: as many parts as Hadoop would make of a
   * file with these bytes, in splits of {@code partBytes}. All keys of the regions are in exactly
   * one part.
   *
   * @param regions in the order in which parts take them; a range has their numbers in this list
   */
  static List<List<Range>> cut(List<RegionRows> regions, long partBytes) {
    long bytes = 0;
    long rows = 0;
    for (RegionRows region : regions) {
      bytes += region.bytes();
      for (Run run : region.runs) {
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
      double near = NEAR * share;
      long regionStart = passedBytes;
      long regionEnd = passedBytes + region.bytes();
      byte[] from = region.start;
      long rows = 0;
      long bytes = 0;
      for (Run run : region.runs) {
        long passedRows = 0;
        while (cuts + 1 < wanted) {
          double cut = share * (cuts + 1);
          if (regionEnd - cut < near) {
            break;
          }
          double after = cut - regionStart < near ? 0 : cut - passedBytes;
          long at = (long) (after / run.bytes * run.rows);
          if (at >= run.rows) {
            break;
          }
          cuts++;
          byte[] key = RowKeys.key(run.writer, run.first + at);
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

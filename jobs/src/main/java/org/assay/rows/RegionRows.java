package org.assay.rows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * About how many rows a region has, and how many bytes their lines, by writer. It is good enough to
 * share a table evenly; whatever it misses lies in some part all the same.
 */
public final class RegionRows {
  /**
   * A share of a file that is larger by less than this is one split too, as with Hadoop's files.
   */
  private static final double SLOP = 0.1;

  /** A part that would end this near to a region's end, as a fraction of the part, ends there. */
  private static final double NEAR = 0.04;

  /** The rows that one writer left in a region, of which the first has so many before it. */
  public static final class Run {
    public final byte[] writer;
    public final long first;
    public final long rows;
    public final long bytes;

    public Run(byte[] writer, long first, long rows, long bytes) {
      this.writer = writer;
      this.first = first;
      this.rows = rows;
      this.bytes = bytes;
    }
  }

  /** Keys of one region, from the first up to but not with the last. */
  public static final class Range {
    public final int region;
    public final byte[] start;
    public final byte[] stop;
    public final long rows;
    public final long bytes;

    public Range(int region, byte[] start, byte[] stop, long rows, long bytes) {
      this.region = region;
      this.start = start;
      this.stop = stop;
      this.rows = rows;
      this.bytes = bytes;
    }
  }

  public final byte[] start;
  public final byte[] stop;
  public final List<Run> runs;

  public RegionRows(byte[] start, byte[] stop, List<Run> runs) {
    this.start = start;
    this.stop = stop;
    this.runs = runs;
  }

  public long rows() {
    return runs.stream().mapToLong(run -> run.rows).sum();
  }

  public long bytes() {
    return runs.stream().mapToLong(run -> run.bytes).sum();
  }

  /**
   * As many parts as Hadoop would make of a file with these bytes, in splits of {@code partBytes},
   * and no more than there are rows, but one at least.
   */
  public static long parts(long rows, long bytes, long partBytes) {
    return Math.max(1, Math.min(rows, (long) Math.ceil((double) bytes / partBytes - SLOP)));
  }

  /**
   * Cuts regions into {@link #parts} of about as many bytes each. All keys of the regions are in
   * exactly one part.
   *
   * @param regions in the order in which parts take them; a range has their numbers in this list
   */
  public static List<List<Range>> cut(List<RegionRows> regions, long partBytes) {
    long bytes = 0;
    long rows = 0;
    for (RegionRows region : regions) {
      bytes += region.bytes();
      rows += region.rows();
    }
    long parts = parts(rows, bytes, partBytes);
    Cutter cutter = new Cutter((double) bytes / parts, parts);
    for (int region = 0; region < regions.size(); region++) {
      cutter.add(region, regions.get(region));
    }
    return cutter.finish();
  }

  /** As {@code cut}, but no region is divided: each is in the part that has its middle. */
  static List<List<Range>> together(List<RegionRows> regions, long partBytes) {
    long bytes = regions.stream().mapToLong(RegionRows::bytes).sum();
    long wanted = parts(regions.size(), bytes, partBytes);
    List<List<Range>> parts = new ArrayList<>();
    long last = -1;
    long passed = 0;
    for (int number = 0; number < regions.size(); number++) {
      RegionRows region = regions.get(number);
      long part = (2 * passed + region.bytes()) * wanted / Math.max(1, 2 * bytes);
      if (part != last) {
        parts.add(new ArrayList<>());
      }
      Range range = new Range(number, region.start, region.stop, region.rows(), region.bytes());
      parts.get(parts.size() - 1).add(range);
      passed += region.bytes();
      last = part;
    }
    return parts;
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
          if (atStart || Arrays.equals(from, key)) {
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

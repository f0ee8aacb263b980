package org.assay.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The keys of a table's lines by their numbers, where one client has put all of them: it gives them
 * to all regions in turn, some at a time ({@link LineStream}).
 */
public final class LinePlaces {
  private static final long IN_TURN = LineStream.LINES_IN_TURN;

  /** What the keys of each place begin with, in the order of their turns. */
  private final List<byte[]> writers;

  private final long lines;
  private final double lineBytes;

  private LinePlaces(List<byte[]> writers, long lines, double lineBytes) {
    this.writers = writers;
    this.lines = lines;
    this.lineBytes = lineBytes;
  }

  /**
   * Of a table.
   *
   * @param instead what to do besides where the lines can't be looked up; goes on a sentence
   * @throws IOException where its lines were not put by one client
   */
  public static LinePlaces of(String table, List<RegionRows> regions, String instead)
      throws IOException {
    Map<byte[], Long> rows = new TreeMap<>(Arrays::compareUnsigned);
    long bytes = 0;
    for (RegionRows region : regions) {
      for (RegionRows.Run run : region.runs) {
        rows.merge(run.writer, run.first + run.rows, Math::max);
        bytes += run.bytes;
      }
    }
    long lines = rows.values().stream().mapToLong(Long::longValue).sum();
    double lineBytes = (double) bytes / Math.max(1, lines);
    LinePlaces places = new LinePlaces(new ArrayList<>(rows.keySet()), lines, lineBytes);
    for (int place = 0; place < places.writers.size(); place++) {
      byte[] writer = places.writers.get(place);
      boolean sameName =
          ByteBuffer.wrap(writer).getInt(Short.BYTES)
              == ByteBuffer.wrap(places.writers.get(0)).getInt(Short.BYTES);
      if (!sameName || rows.get(writer) != places.before(place, lines)) {
        throw new IOException(
            "lines of table "
                + table
                + " can't be looked up by their numbers, as more than one client has put them; put"
                + " all by one"
                + instead);
      }
    }
    return places;
  }

  /** How many lines the table has. */
  long lines() {
    return lines;
  }

  /** The keys of lines that follow each other: a range for each place that has some of them. */
  List<RegionRows.Range> ranges(long first, long last) {
    List<RegionRows.Range> ranges = new ArrayList<>();
    long turn = first / IN_TURN;
    long end = Math.min(last / IN_TURN + 1, turn + writers.size());
    for (; turn < end; turn++) {
      int place = (int) (turn % writers.size());
      byte[] writer = writers.get(place);
      long from = before(place, first);
      long to = before(place, last + 1);
      ranges.add(
          new RegionRows.Range(
              place,
              RowKeys.key(writer, from),
              RowKeys.key(writer, to),
              to - from,
              (long) (lineBytes * (to - from))));
    }
    return ranges;
  }

  /** How many of the lines before the one with this number are a place's. */
  private long before(int place, long number) {
    long round = IN_TURN * writers.size();
    long inLast = number % round - IN_TURN * place;
    return number / round * IN_TURN + Math.max(0, Math.min(IN_TURN, inLast));
  }
}

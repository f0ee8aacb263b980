package org.assay.rows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;

/** A store with one table, which tasks scan and get, and no more. */
final class LinesInMemory implements RowStore<Region>, RowSource {
  private final TreeMap<byte[], String> lines = new TreeMap<>(Arrays::compareUnsigned);

  LinesInMemory(SortedMap<byte[], String> lines) {
    this.lines.putAll(lines);
  }

  private static Rows rows(Collection<String> lines) {
    Iterator<String> left = lines.iterator();
    return new Rows() {
      @Override
      public boolean next(Text line) throws IOException {
        if (!left.hasNext()) {
          return false;
        }
        String stored = left.next();
        if (stored == null) {
          throw new IOException("a row is lost");
        }
        line.set(stored);
        return true;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public Rows scan(String table, byte[] start, byte[] stop, boolean rest) {
    SortedMap<byte[], String> from = lines.tailMap(start);
    return rows((stop.length == 0 ? from : from.headMap(stop)).values());
  }

  @Override
  public Rows get(String table, List<byte[]> keys, boolean rest) {
    List<String> got = new ArrayList<>();
    keys.forEach(key -> got.add(lines.get(key)));
    return rows(got);
  }

  @Override
  public RowSource shared(Configuration conf) {
    return this;
  }

  @Override
  public String scheme() {
    return "memory";
  }

  @Override
  public RowTables<Region> connect(Configuration conf) {
    throw new UnsupportedOperationException("no client connects");
  }
}

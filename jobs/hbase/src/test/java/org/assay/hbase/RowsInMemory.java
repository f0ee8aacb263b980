package org.assay.hbase;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.util.Bytes;

/** Rows of lines, in the order of their keys, and a table that scans and gets them, and no more. */
final class RowsInMemory {
  private final List<Result> rows = new ArrayList<>();

  void add(byte[] key, int lineBytes) {
    add(new KeyValue(key, Tables.FAMILY, Tables.LINE, new byte[lineBytes]));
  }

  /** Adds a row with these cells, in their order. */
  void add(Cell... cells) {
    rows.add(Result.create(List.of(cells)));
  }

  Table table() {
    return (Table)
        Proxy.newProxyInstance(
            Table.class.getClassLoader(),
            new Class<?>[] {Table.class},
            (table, method, arguments) -> {
              if (method.getName().equals("getScanner")) {
                return scanned((Scan) arguments[0]);
              }
              if (method.getName().equals("get")) {
                return ((List<?>) arguments[0]).stream().map(this::got).toArray(Result[]::new);
              }
              if (method.getName().equals("close")) {
                return null;
              }
              throw new UnsupportedOperationException(method.getName());
            });
  }

  /** To an HBase with this table alone. */
  Connection connection() {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (connection, method, arguments) -> {
              switch (method.getName()) {
                case "getTable":
                  return table();
                case "getConfiguration":
                  return new Configuration(false);
                case "getAdmin":
                  return null;
                default:
                  throw new UnsupportedOperationException(method.getName());
              }
            });
  }

  private Result got(Object get) {
    byte[] key = ((Get) get).getRow();
    return rows.stream()
        .filter(row -> Bytes.equals(row.getRow(), key))
        .findFirst()
        .orElse(Result.EMPTY_RESULT);
  }

  private ResultScanner scanned(Scan scan) {
    int direction = scan.isReversed() ? -1 : 1;
    List<Result> found = new ArrayList<>();
    for (Result row : rows) {
      int fromStart = direction * Bytes.compareTo(row.getRow(), scan.getStartRow());
      int toStop = direction * Bytes.compareTo(scan.getStopRow(), row.getRow());
      boolean begun = scan.includeStartRow() ? fromStart >= 0 : fromStart > 0;
      boolean more = scan.includeStopRow() ? toStop >= 0 : toStop > 0;
      if ((begun || scan.getStartRow().length == 0) && (more || scan.getStopRow().length == 0)) {
        found.add(row);
      }
    }
    if (scan.isReversed()) {
      Collections.reverse(found);
    }
    int count = scan.getLimit() > 0 ? Math.min(scan.getLimit(), found.size()) : found.size();
    Iterator<Result> left = found.subList(0, count).iterator();
    return new ResultScanner() {
      @Override
      public Result next() {
        return left.hasNext() ? left.next() : null;
      }

      @Override
      public void close() {}

      @Override
      public boolean renewLease() {
        return true;
      }

      @Override
      public ScanMetrics getScanMetrics() {
        return null;
      }
    };
  }
}

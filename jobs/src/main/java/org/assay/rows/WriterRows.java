package org.assay.rows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;

/** Rows of one writer by their keys, some at a time: for stores that keep rows in no order. */
public final class WriterRows implements Rows {
  private final RowSource source;
  private final String table;
  private final byte[] writer;
  private final long end;
  private long reached;
  private Rows some;

  /** From a writer's key up to but not with another one. */
  public WriterRows(RowSource source, String table, byte[] start, byte[] stop) {
    this.source = source;
    this.table = table;
    writer = RowKeys.writer(start);
    reached = RowKeys.count(start);
    end = RowKeys.count(stop);
  }

  @Override
  public boolean next(Text line) throws IOException {
    while (some == null || !some.next(line)) {
      List<byte[]> keys = new ArrayList<>();
      for (; reached < end && keys.size() < RowReader.GETS; reached++) {
        keys.add(RowKeys.key(writer, reached));
      }
      if (keys.isEmpty()) {
        return false;
      }
      some = source.get(table, keys, false);
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    if (some != null) {
      some.close();
    }
  }
}

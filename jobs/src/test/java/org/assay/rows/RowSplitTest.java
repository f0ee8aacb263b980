package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

class RowSplitTest {
  /** The split as a task gets it. */
  static RowSplit copied(RowSplit split) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    split.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    RowSplit copy = new RowSplit();
    copy.readFields(in);
    assertEquals(0, in.available());
    return copy;
  }

  private static RowSplit split(long bytes, RowSplit.Part... parts) {
    return new RowSplit("runs.input", List.of(parts), new String[] {"worker-1"}, 10, bytes, true);
  }

  @Test
  void tasksGetWhatWasPlanned() throws IOException {
    byte[] key = {1, 2};
    RowSplit copy =
        copied(
            split(
                70_000,
                new RowSplit.Part(new byte[0], key),
                new RowSplit.Part(key, key),
                new RowSplit.Part(key, new byte[0], new byte[] {7})));
    assertEquals("runs.input", copy.table());
    assertArrayEquals(new String[] {"worker-1"}, copy.getLocations());
    assertEquals(70_000, copy.getLength());
    assertEquals(10, copy.rows());
    assertTrue(copy.rest());
    assertEquals(3, copy.parts().size());
    RowSplit.Part first = copy.parts().get(0);
    assertFalse(first.isRow());
    assertEquals(0, first.start.length);
    assertArrayEquals(key, first.stop);
    assertEquals(0, first.files.length);
    assertTrue(copy.parts().get(1).isRow());
    assertArrayEquals(new byte[] {7}, copy.parts().get(2).files);
    assertFalse(new RowSplit.Part(new byte[0], new byte[0]).isRow());
  }

  @Test
  void aSplitWithoutBytesIsNoSplitWithoutLength() {
    assertEquals(1, split(0, new RowSplit.Part(new byte[0], new byte[0])).getLength());
  }
}

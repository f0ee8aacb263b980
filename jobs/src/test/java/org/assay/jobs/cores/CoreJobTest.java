package org.assay.jobs.cores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.IdList;
import org.junit.jupiter.api.Test;

/** H-indices are those of the definition, and states survive bytes and text. */
class CoreJobTest {
  @Test
  void hIndicesAreThoseOfTheDefinition() {
    Random random = new Random(3);
    CoreJob.HIndex index = new CoreJob.HIndex();
    for (int i = 0; i < 500; i++) {
      IdList numbers = new IdList();
      int size = random.nextInt(i % 10 == 0 ? 200 : 8);
      for (int k = 0; k < size; k++) {
        numbers.add(1 + random.nextInt(9));
      }
      long bound = random.nextInt(12);
      assertEquals(byDefinition(numbers, bound), index.of(numbers, bound));
    }
  }

  private static long byDefinition(IdList numbers, long bound) {
    for (long h = bound; h > 0; h--) {
      int atLeast = 0;
      for (int i = 0; i < numbers.size(); i++) {
        atLeast += numbers.get(i) >= h ? 1 : 0;
      }
      if (atLeast >= h) {
        return h;
      }
    }
    return 0;
  }

  @Test
  void statesSurviveBytesAndText() throws Exception {
    CoreState state = new CoreState();
    CoreLine line = new CoreLine();
    String text = "0\t2\t1\t5:300 9223372036854775807:1";
    assertEquals(0, line.readState(new Text(text), state));
    CoreState copy = new CoreState();
    copy.setMessage(Long.MAX_VALUE, 7);
    copy = overBytes(copy);
    assertTrue(copy.isMessage());
    assertEquals(Long.MAX_VALUE, copy.sender());
    assertEquals(7, copy.estimate());
    CoreState read = overBytes(state);
    assertFalse(read.isMessage());
    assertEquals(text, line.text(0, read).toString());
    read.setVertex(2, false);
    assertEquals("0\t2\t0\t5:300 9223372036854775807:1", line.text(0, read).toString());
  }

  private static CoreState overBytes(CoreState state) throws Exception {
    DataOutputBuffer out = new DataOutputBuffer();
    state.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    CoreState read = new CoreState();
    read.readFields(in);
    return read;
  }
}

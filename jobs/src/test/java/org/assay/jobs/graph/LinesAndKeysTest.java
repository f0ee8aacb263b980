package org.assay.jobs.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.junit.jupiter.api.Test;

/** Numbers survive text and bytes, and serialized keys are in the order of their numbers. */
class LinesAndKeysTest {
  private static final long[] IDS = {0, 1, 9, 10, 255, 256, 1L << 40, Long.MAX_VALUE};

  @Test
  void numbersSurviveALine() throws Exception {
    LineBuilder line = new LineBuilder();
    for (long id : IDS) {
      line.put(id).put(' ');
    }
    IdScanner scanner = new IdScanner(" ");
    scanner.reset(line.text());
    for (long id : IDS) {
      scanner.hasNext();
      assertEquals(id, scanner.next());
    }
    assertEquals(false, scanner.hasNext());
  }

  @Test
  void linesThatAreNotCanonicalAreRefused() {
    EdgeLine edge = new EdgeLine();
    for (String line : new String[] {"", "2\t1", "1\t1", "1\t2\t3", "-1\t2", "1,2", "x"}) {
      assertThrows(MalformedLineException.class, () -> edge.read(new Text(line)), line);
    }
  }

  @Test
  void rawOrderIsNumericOrder() throws Exception {
    Random random = new Random(5);
    VertexTriple left = new VertexTriple();
    VertexTriple right = new VertexTriple();
    WritableComparator raw = WritableComparator.get(VertexTriple.class);
    for (int i = 0; i < 2000; i++) {
      left.set(pick(random), pick(random), pick(random));
      right.set(pick(random), pick(random), pick(random));
      DataOutputBuffer leftBytes = new DataOutputBuffer();
      DataOutputBuffer rightBytes = new DataOutputBuffer();
      left.write(leftBytes);
      right.write(rightBytes);
      int order = raw.compare(leftBytes.getData(), 0, 24, rightBytes.getData(), 0, 24);
      assertEquals(Integer.signum(left.compareTo(right)), Integer.signum(order));
      assertEquals(order == 0, left.equals(right));
    }
  }

  @Test
  void hashesBalanceReducersForNumbersWithAStride() {
    int[] counts = new int[8];
    VertexPair pair = new VertexPair();
    for (int i = 0; i < 8000; i++) {
      pair.set(i * 8L, i * 16L);
      counts[(pair.hashCode() & Integer.MAX_VALUE) % 8]++;
    }
    for (int count : counts) {
      assertEquals(1000, count, 150);
    }
  }

  private static long pick(Random random) {
    return IDS[random.nextInt(IDS.length)];
  }
}

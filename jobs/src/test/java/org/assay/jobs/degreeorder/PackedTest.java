package org.assay.jobs.degreeorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparator;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.PackedPair;
import org.junit.jupiter.api.Test;

/** Packed pairs and lists survive their bytes, and equal pairs have equal bytes. */
class PackedTest {
  private static final long[] IDS = {0, 1, 127, 128, 255, 256, 1L << 40, Long.MAX_VALUE};

  private static DataOutputBuffer bytes(Writable written) throws Exception {
    DataOutputBuffer out = new DataOutputBuffer();
    written.write(out);
    return out;
  }

  private static void copy(Writable from, Writable to) throws Exception {
    DataOutputBuffer out = bytes(from);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    to.readFields(in);
    assertEquals(out.getLength(), in.getPosition());
  }

  @Test
  void pairsSurviveAndCompareLikeTheirBytes() throws Exception {
    WritableComparator raw = WritableComparator.get(PackedPair.class);
    PackedPair left = new PackedPair();
    PackedPair right = new PackedPair();
    PackedPair copy = new PackedPair();
    Random random = new Random(3);
    for (int i = 0; i < 3000; i++) {
      left.setUnordered(pick(random), pick(random));
      right.setUnordered(pick(random), pick(random));
      copy(left, copy);
      assertEquals(left, copy);
      DataOutputBuffer one = bytes(left);
      DataOutputBuffer other = bytes(right);
      int order =
          raw.compare(one.getData(), 0, one.getLength(), other.getData(), 0, other.getLength());
      assertEquals(left.equals(right), order == 0);
      assertEquals(Integer.signum(order), Integer.signum(left.compareTo(right)));
    }
  }

  @Test
  void smallNumbersMakeShortPairs() throws Exception {
    PackedPair pair = new PackedPair();
    pair.setUnordered(81_306, 17);
    assertEquals(5, bytes(pair).getLength());
    assertEquals(17, pair.first());
  }

  @Test
  void listsSurviveInAnyOrder() throws Exception {
    Random random = new Random(4);
    PackedIds packed = new PackedIds();
    PackedIds read = new PackedIds();
    IdList ids = new IdList();
    IdList unpacked = new IdList();
    for (int size = 0; size < 200; size += 7) {
      ids.clear();
      for (int i = 0; i < size; i++) {
        ids.add(pick(random));
      }
      packed.pack(ids);
      copy(packed, read);
      read.unpack(unpacked);
      assertEquals(size, unpacked.size());
      for (int i = 0; i < size; i++) {
        assertEquals(ids.get(i), unpacked.get(i));
      }
    }
  }

  @Test
  void closeNumbersTakeAByteEach() throws Exception {
    PackedIds packed = new PackedIds();
    for (long id = 1_000_000; id < 1_001_000; id += 50) {
      packed.add(id);
    }
    assertTrue(bytes(packed).getLength() < 30);
  }

  private static long pick(Random random) {
    return IDS[random.nextInt(IDS.length)];
  }
}

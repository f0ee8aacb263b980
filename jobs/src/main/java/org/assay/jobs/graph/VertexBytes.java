package org.assay.jobs.graph;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Vertex numbers as serialized by the keys of this package: eight bytes each, most significant
 * first, as {@link java.io.DataOutput#writeLong} writes them.
 */
final class VertexBytes {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private VertexBytes() {}

  /** Compares {@code vertices} consecutive vertex numbers, the first one that differs decides. */
  static int compare(byte[] left, int leftOffset, byte[] right, int rightOffset, int vertices) {
    for (int i = 0; i < vertices; i++) {
      long leftVertex = (long) LONGS.get(left, leftOffset + i * Long.BYTES);
      long rightVertex = (long) LONGS.get(right, rightOffset + i * Long.BYTES);
      if (leftVertex != rightVertex) {
        return leftVertex < rightVertex ? -1 : 1;
      }
    }
    return 0;
  }

  /**
   * Adds a vertex to a running hash. Every bit of the vertex reaches the low bits, so that hash
   * partitioning balances the reducers also for numbers with a common stride (finalizer of
   * SplitMix64, Steele, Lea, Flood 2014).
   */
  static long mix(long hash, long vertex) {
    long mixed = hash + vertex + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}

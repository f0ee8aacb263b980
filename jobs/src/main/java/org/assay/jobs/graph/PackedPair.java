package org.assay.jobs.graph;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;

/**
 * Two vertices as a shuffle key of few bytes, where the order of keys doesn't matter. Serialized as
 * one byte with the lengths of both numbers, and their bytes from the first that isn't zero on: 5
 * to 9 bytes for numbers below 2^32. Equal pairs have equal bytes, and only those; they are
 * compared without being deserialized, and hashed so that reducers are balanced. Mutable, to be
 * reused from record to record.
 */
public final class PackedPair implements WritableComparable<PackedPair> {
  static {
    WritableComparator.define(PackedPair.class, new RawOrder());
  }

  private static final int LONGEST = 1 + 2 * Long.BYTES;

  private final byte[] bytes = new byte[LONGEST];
  private long first;
  private long second;

  /** Replaces the content by two vertices in the order of their numbers. */
  public void setUnordered(long one, long other) {
    first = Math.min(one, other);
    second = Math.max(one, other);
  }

  public long first() {
    return first;
  }

  public long second() {
    return second;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.write(bytes, 0, pack());
  }

  private int pack() {
    int firstLength = length(first);
    int secondLength = length(second);
    bytes[0] = (byte) (firstLength << 4 | secondLength);
    put(first, 1, firstLength);
    put(second, 1 + firstLength, secondLength);
    return 1 + firstLength + secondLength;
  }

  private static int length(long vertex) {
    return (Long.SIZE + Byte.SIZE - 1 - Long.numberOfLeadingZeros(vertex)) / Byte.SIZE;
  }

  private void put(long vertex, int start, int length) {
    long rest = vertex;
    for (int i = start + length - 1; i >= start; i--) {
      bytes[i] = (byte) rest;
      rest >>>= Byte.SIZE;
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    int lengths = in.readUnsignedByte();
    int firstLength = lengths >> 4;
    int secondLength = lengths & 0xf;
    in.readFully(bytes, 1, firstLength + secondLength);
    first = get(1, firstLength);
    second = get(1 + firstLength, secondLength);
  }

  private long get(int start, int length) {
    long vertex = 0;
    for (int i = start; i < start + length; i++) {
      vertex = vertex << Byte.SIZE | (bytes[i] & 0xff);
    }
    return vertex;
  }

  /** The order of the serialized form, which isn't that of the numbers. */
  @Override
  public int compareTo(PackedPair other) {
    return Arrays.compareUnsigned(bytes, 0, pack(), other.bytes, 0, other.pack());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PackedPair
        && ((PackedPair) other).first == first
        && ((PackedPair) other).second == second;
  }

  @Override
  public int hashCode() {
    return (int) VertexBytes.mix(VertexBytes.mix(0, first), second);
  }

  @Override
  public String toString() {
    return first + " " + second;
  }

  /** Unsigned bytes from the left; keys with the same first byte are of the same length. */
  private static final class RawOrder extends WritableComparator {
    private RawOrder() {
      super(PackedPair.class, true);
    }

    @Override
    public int compare(
        byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
      return Arrays.compareUnsigned(
          left, leftStart, leftStart + leftLength, right, rightStart, rightStart + rightLength);
    }
  }
}

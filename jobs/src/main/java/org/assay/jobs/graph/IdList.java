package org.assay.jobs.graph;

import java.util.Arrays;

/**
 * A growing list of vertex numbers without boxing, reused from record to record.
 *
 * <p>All neighbours of one vertex are held in memory at 8 bytes each (while growing, up to 3 times
 * that); a vertex can't have more than about 2^31 of them.
 */
public final class IdList {
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

  private long[] ids = new long[64];
  private int size;

  public void clear() {
    size = 0;
  }

  public int size() {
    return size;
  }

  /** The number at {@code index}, counted from 0; the index isn't checked against the size. */
  public long get(int index) {
    return ids[index];
  }

  /** Where a number stands in an ascending list; negative if it isn't there. */
  public int indexOf(long id) {
    return Arrays.binarySearch(ids, 0, size, id);
  }

  /** Appends a number. */
  public void add(long id) {
    if (size == ids.length) {
      grow(size + 1L);
    }
    ids[size++] = id;
  }

  /** Makes this list a copy of another one. */
  public void copyFrom(IdList other) {
    if (other.size > ids.length) {
      grow(other.size);
    }
    System.arraycopy(other.ids, 0, ids, 0, other.size);
    size = other.size;
  }

  /** Sorts in ascending order; repeats stay. */
  public void sort() {
    Arrays.sort(ids, 0, size);
  }

  /** Replaces a number. */
  public void set(int index, long id) {
    ids[index] = id;
  }

  /** Sorts in ascending order and drops repeats. */
  public void sortUnique() {
    sort();
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (kept == 0 || ids[i] != ids[kept - 1]) {
        ids[kept++] = ids[i];
      }
    }
    size = kept;
  }

  private void grow(long needed) {
    if (needed > LARGEST_ARRAY) {
      throw new IllegalStateException("a vertex has more than " + LARGEST_ARRAY + " neighbours");
    }
    ids = Arrays.copyOf(ids, (int) Math.min(LARGEST_ARRAY, Math.max(needed, 2L * ids.length)));
  }
}

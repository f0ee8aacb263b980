package org.assay.jobs.graph;

import java.util.Arrays;

/**
 * Numbers vertices 0, 1, 2, ... in the order in which they first come. A vertex takes 16 to 32
 * bytes; while more room is made, the old and the new are held.
 */
public final class VertexIndex {
  private static final int FIRST_ROOM = 64;

  private long[] vertices = new long[FIRST_ROOM];

  /** One more than a vertex' index, in the first free place from that of its hash; 0 is free. */
  private int[] places = new int[2 * FIRST_ROOM];

  private int size;

  /** How many vertices it knows. */
  public int size() {
    return size;
  }

  /** The vertex at an index, which isn't checked against the size. */
  public long vertex(int index) {
    return vertices[index];
  }

  /** The index of a vertex, negative if it doesn't know it. */
  public int find(long vertex) {
    return places[place(vertex)] - 1;
  }

  /** The index of a vertex, which it knows from then on. */
  public int add(long vertex) {
    int place = place(vertex);
    if (places[place] == 0) {
      if (size == vertices.length) {
        grow();
        place = place(vertex);
      }
      vertices[size++] = vertex;
      places[place] = size;
    }
    return places[place] - 1;
  }

  /** Forgets all vertices; the room stays. */
  public void clear() {
    Arrays.fill(places, 0);
    size = 0;
  }

  private int place(long vertex) {
    int mask = places.length - 1;
    int place = (int) VertexBytes.mix(0, vertex) & mask;
    while (places[place] != 0 && vertices[places[place] - 1] != vertex) {
      place = place + 1 & mask;
    }
    return place;
  }

  private void grow() {
    vertices = Arrays.copyOf(vertices, Math.multiplyExact(2, vertices.length));
    places = new int[Math.multiplyExact(2, places.length)];
    for (int index = 0; index < size; index++) {
      places[place(vertices[index])] = index + 1;
    }
  }
}

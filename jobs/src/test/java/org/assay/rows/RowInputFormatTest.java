package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Parts of a table whose regions lie on several hosts. */
class RowInputFormatTest {
  private static final long MIB = 1 << 20;

  /** Regions of one writer each, of so many bytes, in turn on so many hosts. */
  private static List<Region> places(int regions, int hosts) {
    byte[][] splits = RowKeys.splits(regions);
    List<Region> places = new ArrayList<>();
    for (int number = 0; number < regions; number++) {
      places.add(
          new Region(
              number == 0 ? new byte[0] : splits[number - 1],
              number == regions - 1 ? new byte[0] : splits[number],
              "worker-" + number % hosts));
    }
    return RowInputFormat.byHost(places);
  }

  private static List<String> hosts(int regions, int hosts, long bytes, long partBytes) {
    List<Region> places = places(regions, hosts);
    List<RegionRows> rows = new ArrayList<>();
    for (Region place : places) {
      byte[] writer = Arrays.copyOf(place.start, Short.BYTES + Integer.BYTES);
      List<RegionRows.Run> run =
          bytes == 0
              ? List.of()
              : List.of(new RegionRows.Run(writer, 0, bytes / 32, bytes / regions));
      rows.add(new RegionRows(place.start, place.stop, run));
    }
    List<String> found = new ArrayList<>();
    for (List<RegionRows.Range> part : RegionRows.cut(rows, partBytes)) {
      String[] ofPart = RowInputFormat.hosts(places, part);
      assertTrue(ofPart.length > 0);
      found.add(String.join(" ", Arrays.asList(ofPart)));
    }
    return found;
  }

  @Test
  void regionsOfAHostAreTogether() {
    List<String> hosts = new ArrayList<>();
    places(6, 3).forEach(place -> hosts.add(place.hosts[0].substring("worker-".length())));
    assertEquals(List.of("0", "0", "1", "1", "2", "2"), hosts);
  }

  @Test
  void aTableOnSeveralHostsHasNoMorePartsThanAFile() {
    // The 32.6 MB of a million points in blocks of 6 MiB are 6 splits of a file.
    List<String> found = hosts(8, 4, 32_600_000, 6 * MIB);
    assertEquals(
        List.of(
            "worker-0",
            "worker-0 worker-1",
            "worker-1",
            "worker-2",
            "worker-2 worker-3",
            "worker-3"),
        found);
  }

  @Test
  void partsThatAreAsManyAsRegionsStayOnTheirHosts() {
    List<String> found = hosts(8, 4, 64 * MIB, 8 * MIB);
    assertEquals(8, found.size());
    for (String one : found) {
      assertTrue(!one.contains(" "), one);
    }
  }

  @Test
  void aSmallTableIsOnePartOnAllItsHosts() {
    assertEquals(List.of("worker-0 worker-1 worker-2"), hosts(3, 3, MIB, 128 * MIB));
    assertEquals(List.of("worker-0 worker-1 worker-2"), hosts(3, 3, 0, 128 * MIB));
  }

  @Test
  void aHostWithLittleOfAPartIsNoneOfItsHosts() {
    List<Region> places = places(2, 2);
    byte[] any = new byte[0];
    for (long little : new long[] {49, 50}) {
      List<RegionRows.Range> part =
          List.of(
              new RegionRows.Range(0, any, any, 1, 100),
              new RegionRows.Range(1, any, any, 1, little));
      String[] expected =
          little == 49 ? new String[] {"worker-0"} : new String[] {"worker-0", "worker-1"};
      assertArrayEquals(expected, RowInputFormat.hosts(places, part));
    }
  }
}

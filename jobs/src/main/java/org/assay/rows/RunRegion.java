package org.assay.rows;

import java.util.ArrayList;
import java.util.List;

/** Rows of a writer that follow each other, as it has counted them. */
public final class RunRegion extends Region {
  public final RegionRows.Run run;

  public RunRegion(RegionRows.Run run, String host) {
    super(RowKeys.key(run.writer, run.first), RowKeys.key(run.writer, run.first + run.rows), host);
    this.run = run;
  }

  /** What each of these has. */
  public static List<RegionRows> count(List<RunRegion> regions) {
    List<RegionRows> counted = new ArrayList<>();
    regions.forEach(
        region -> counted.add(new RegionRows(region.start, region.stop, List.of(region.run))));
    return counted;
  }
}

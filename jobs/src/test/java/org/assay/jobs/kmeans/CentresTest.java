package org.assay.jobs.kmeans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.io.Text;
import org.assay.jobs.LocalRun;
import org.assay.jobs.graph.LineForm;
import org.assay.jobs.graph.MalformedLineException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The nearest centre is found while a distance is a finite double, and never guessed beyond. */
class CentresTest {
  @TempDir Path directory;
  private LocalRun local;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
  }

  private Centres centres(String... lines) throws Exception {
    String file = local.write("centres", lines);
    return Centres.readGiven(local.settings(1), new org.apache.hadoop.fs.Path(file), false);
  }

  private static String refusal(Centres centres, double... point) {
    return assertThrows(MalformedLineException.class, () -> centres.nearest(point, point.length))
        .getMessage();
  }

  @Test
  void aPointTooFarFromAllCentresIsRefused() throws Exception {
    Centres centres = centres("-1e200,0", "-1e201,0");
    assertTrue(refusal(centres, 1e200, 0).contains("too far from all centres"));
    assertTrue(refusal(centres("-1e308"), 1e308).contains("too far from all centres"));
  }

  @Test
  void aPointTooFarFromSomeCentresGoesToTheOther() throws Exception {
    assertEquals(1, centres("-1e200,0", "1e200,1").nearest(new double[] {1e200, 0}, 2));
  }

  @Test
  void theFormOfAPointsFileIsThatOfTheCentres() throws Exception {
    LineForm form = centres("1,2").form(new PointScanner());
    form.check(new Text(""));
    form.check(new Text("3 4"));
    for (String line : new String[] {"1,2,3", "1,x", "1e300,0"}) {
      assertThrows(MalformedLineException.class, () -> form.check(new Text(line)), line);
    }
  }

  @Test
  void numbersBehindThePointsOwnAreNotItsForm() throws Exception {
    LineForm form = centres("1,2").form(new PointScanner(2));
    form.check(new Text("3 4"));
    form.check(new Text("3 4 5 x"));
    assertThrows(MalformedLineException.class, () -> form.check(new Text("3")));
  }

  @Test
  void anotherNumberOfCoordinatesIsRefused() throws Exception {
    assertTrue(refusal(centres("1,2"), 1, 2, 3).contains("3 coordinates"));
  }
}

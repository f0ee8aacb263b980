package org.assay.jobs.kmeans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Means don't depend on the order and the groups in which points arrive. */
class PointSumTest {
  private static PointSum sum(List<double[]> points) {
    PointSum sum = new PointSum();
    sum.clear();
    PointSum point = new PointSum();
    for (double[] one : points) {
      point.setPoint(one, 2);
      sum.add(point);
    }
    return sum;
  }

  private static PointSum sent(PointSum sum) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    sum.write(new DataOutputStream(bytes));
    assertEquals(
        sum.count() == 1 ? 2 + 2 * 8 : 2 + 2 * 24, bytes.size(), "bytes of " + sum.count());
    PointSum read = new PointSum();
    read.readFields(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    return read;
  }

  @Test
  void whatPlainSumsLoseIsKept() {
    PointSum sum =
        sum(
            List.of(
                new double[] {1, 1e100},
                new double[] {1e100, 1},
                new double[] {1, -1e100},
                new double[] {-1e100, 1}));
    assertEquals(0.5, sum.mean(0), 0.0);
    assertEquals(0.5, sum.mean(1), 0.0);
    assertEquals(5e99, sum.meanMagnitude(0), 1e85);
  }

  @Test
  void theFirstPointTellsTheNumberOfCoordinates() {
    PointSum sum = sum(List.of(new double[] {1, 2}, new double[] {3, 4}));
    PointSum longer = new PointSum();
    longer.setPoint(new double[] {5, 6, 7}, 3);
    assertThrows(IllegalArgumentException.class, () -> sum.add(longer));
    sum.clear();
    sum.add(longer);
    assertEquals(1, sum.count());
    assertEquals(7, sum.mean(2), 0.0);
  }

  @Test
  void orderAndGroupsChangeNothing() throws IOException {
    Random random = new Random(11);
    List<double[]> points = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      points.add(new double[] {random.nextGaussian() * 1e6, random.nextDouble()});
    }
    PointSum whole = sum(points);
    for (int repetition = 0; repetition < 20; repetition++) {
      Collections.shuffle(points, random);
      int cut = 1 + random.nextInt(98);
      PointSum grouped = new PointSum();
      grouped.clear();
      grouped.add(sent(sum(points.subList(0, cut))));
      grouped.add(sent(sum(points.subList(cut, 100))));
      assertEquals(100, grouped.count());
      assertEquals(whole.mean(0), grouped.mean(0), Math.ulp(whole.mean(0)));
      assertEquals(whole.mean(1), grouped.mean(1), Math.ulp(whole.mean(1)));
    }
  }
}

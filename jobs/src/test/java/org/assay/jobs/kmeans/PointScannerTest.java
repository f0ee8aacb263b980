package org.assay.jobs.kmeans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.MalformedLineException;
import org.junit.jupiter.api.Test;

/** Numbers are read as Java reads them, to the last bit. */
class PointScannerTest {
  private final PointScanner scanner = new PointScanner();

  private double only(String text) throws Exception {
    assertEquals(1, scanner.read(new Text(text)));
    return scanner.coordinates()[0];
  }

  @Test
  void formsOfNumbers() throws Exception {
    for (String text :
        List.of(
            "0",
            "-0",
            "+3",
            "7.",
            ".5",
            "-.25",
            "1e3",
            "1E-3",
            "2.5e+2",
            "0.1",
            "123456789",
            "0.30000000000000004",
            "999999999999999",
            "9999999999999999",
            "4.9e-324",
            "179769313486231570000000000000000000000.5",
            "0.000000000000001",
            "00012.50")) {
      assertEquals(Double.parseDouble(text), only(text), 0.0, text);
      assertEquals(Double.parseDouble("-1") * Double.parseDouble("3"), only(" -3,"), 0.0);
    }
  }

  @Test
  void randomNumbersAreReadToTheLastBit() throws Exception {
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      double value = (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(12));
      String text = String.format(Locale.ROOT, "%." + random.nextInt(14) + "f", value);
      assertEquals(Double.parseDouble(text), only(text), 0.0, text);
      assertEquals(value, only(Double.toString(value)), 0.0);
    }
  }

  @Test
  void whatIsNoFiniteNumberIsMalformed() {
    for (String text :
        List.of("x", "nan", "Infinity", "0x1p3", "1e999", "1f", "1.2.3", "-", ".", "1e", "1;2")) {
      assertThrows(MalformedLineException.class, () -> only("1,2," + text), text);
    }
  }
}

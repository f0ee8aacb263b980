package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class LineColumnsTest {
  /** The first columns of a line that stands within other bytes. */
  private static String first(String line, int columns) {
    byte[] bytes = ("1,2," + line + ",3,4").getBytes(StandardCharsets.UTF_8);
    int length = line.getBytes(StandardCharsets.UTF_8).length;
    return new String(
        bytes, 4, LineColumns.length(bytes, 4, length, columns), StandardCharsets.UTF_8);
  }

  @Test
  void columnsAreCutBehindTheLastOneWanted() {
    assertEquals("1,2", first("1,2,3", 2));
    assertEquals("1,2,3", first("1,2,3", 3));
    assertEquals("1,2,3", first("1,2,3", 4));
    assertEquals(" ,1\t, 2", first(" ,1\t, 2  \r", 2));
    assertEquals("ä", first("ä ö", 1));
    assertEquals("", first("", 1));
    assertEquals("", first("1 2", 0));
  }

  @Test
  void theRestIsReadWhereAJobReadsMoreThanIsApart() {
    Configuration job = new Configuration(false);
    assertFalse(LineColumns.needRest(job, 0));
    assertTrue(LineColumns.needRest(job, 2));
    job.setInt(LineColumns.READ_BY_JOB, 2);
    assertFalse(LineColumns.needRest(job, 0));
    assertFalse(LineColumns.needRest(job, 2));
    assertFalse(LineColumns.needRest(job, 3));
    assertTrue(LineColumns.needRest(job, 1));
  }
}

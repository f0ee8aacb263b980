package org.assay.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class RowTablesTest {
  @Test
  void pathsNameTables() {
    assertEquals("runs.a-1.in_put", RowTables.at(new Path("hbase:/runs/a-1/in_put")));
    assertEquals(new Path("/runs/input"), RowTables.path("runs.input"));
    for (String path : new String[] {"hbase:/", "hbase:/a.b", "hbase:/-a", "hbase:/a/ b"}) {
      Exception wrong =
          assertThrows(IllegalArgumentException.class, () -> RowTables.at(new Path(path)));
      assertTrue(wrong.getMessage().contains("names no table"), wrong.getMessage());
    }
  }
}

package org.assay.jobs.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.assay.jobs.LocalRun;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first line that isn't of a form is found with its file and number, whatever the files. */
class FirstBadLineTest {
  @TempDir Path directory;
  private LocalRun local;
  private Configuration conf;

  @BeforeEach
  void start() {
    local = new LocalRun(directory);
    conf = local.settings(1);
  }

  private String found(String name) throws Exception {
    return FirstBadLine.in(
        conf, new org.apache.hadoop.fs.Path(local.path(name)), new EdgeLine()::read);
  }

  @Test
  void aWordIsFoundInOneFileOfSeveral() throws Exception {
    local.write("in/a.txt", "1\t2", "3");
    local.write("in/b.txt", "1\t3", "2\tx", "y");
    local.write("in/_SUCCESS", "not a graph");
    assertTrue(found("in").contains("b.txt line 2: \"2 x\" is not a line of"), found("in"));
    assertTrue(found("in").contains("\"x\" is not a vertex number"), found("in"));
  }

  @Test
  void aFileAloneAndCompressedFilesAreRead() throws Exception {
    local.write("in.txt", "2\t1");
    assertTrue(found("in.txt").contains("in.txt line 1: \"2 1\""), found("in.txt"));
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(directory.resolve("zipped.gz")))) {
      out.write("1\t2\n-1\t2\n".getBytes(StandardCharsets.UTF_8));
    }
    assertTrue(found("zipped.gz").contains("zipped.gz line 2: \"-1 2\""), found("zipped.gz"));
  }

  @Test
  void aCanonicalInputHasNone() throws Exception {
    local.write("in.txt", "1\t2", "3");
    assertNull(found("in.txt"));
    assertNull(found("missing.txt"));
  }

  @Test
  void whatAnyFormRefusesIsFound() throws Exception {
    local.write("in.txt", "1\t2", "3", "short");
    LineForm form =
        line -> {
          if (line.getLength() == 1) {
            throw new MalformedLineException("one character");
          }
        };
    String found = FirstBadLine.in(conf, new org.apache.hadoop.fs.Path(local.path("in.txt")), form);
    assertTrue(found.endsWith("in.txt line 2: one character"), found);
  }

  @Test
  void whatAnEdgeLineSaysIsRecognised() {
    EdgeLine edge = new EdgeLine();
    for (String line : new String[] {"", "2\t1", "1\tx"}) {
      Exception said =
          assertThrows(MalformedLineException.class, () -> edge.read(new Text(line)), line);
      assertTrue(FirstBadLine.isMeantBy("job failed: " + said), line);
    }
    assertEquals(false, FirstBadLine.isMeantBy("job failed: disk full"));
  }
}

package org.assay.jobs.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.assay.jobs.LocalRun;
import org.assay.jobs.RandomGraph;
import org.assay.jobs.vertex.NaiveAnswers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Components by stars end in memory once the vertices fit, with the same output. */
class ContractionTest {
  @TempDir Path directory;
  private LocalRun local;
  private int runs;

  private SortedMap<Long, Long> run(int reducers, int inMemory, String... lines) throws Exception {
    local = new LocalRun(directory.resolve("run-" + runs++));
    String input = local.write("graph/edges.txt", lines);
    String report = local.path("report.json");
    String[] args = {
      "components-tuned",
      input,
      local.path("out"),
      "--vertices-in-memory",
      "" + inMemory,
      "--report",
      report
    };
    assertEquals(0, local.run(reducers, args), local.complaint());
    assertFalse(local.exists("out.work"), "intermediates are gone");
    SortedMap<Long, Long> components = new TreeMap<>();
    for (String line : local.output("out")) {
      String[] fields = line.split("\t", -1);
      assertEquals(null, components.put(Long.valueOf(fields[0]), Long.valueOf(fields[1])), line);
    }
    return components;
  }

  private long result(String name) {
    return local.report("report.json").get("result").get(name).asLong();
  }

  private List<String> jobs() {
    List<String> names = new ArrayList<>();
    for (JsonNode job : local.report("report.json").get("jobs")) {
      names.add(job.get("name").asText());
    }
    return names;
  }

  @Test
  void anyMemoryGivesTheSameOutput() throws Exception {
    String[] lines = RandomGraph.of(2, 40, 0.04).lines(2);
    SortedMap<Long, Long> expected = new NaiveAnswers(lines).components();
    for (int inMemory : new int[] {2, 7, 39, 40}) {
      int reducers = inMemory % 3 + 1;
      assertEquals(expected, run(reducers, inMemory, lines), inMemory + " vertices in memory");
      assertEquals(expected.size(), result("vertices"));
      assertEquals(Set.copyOf(expected.values()).size(), result("components"));
      assertEquals(jobs().size(), result("iterations"));
    }
  }

  @Test
  void aSmallGraphTakesOneJobThatSendsEachVertexOnce() throws Exception {
    String[] lines = RandomGraph.of(6, 30, 0.2).lines(6);
    SortedMap<Long, Long> components = run(3, 1000, lines);
    assertEquals(List.of("contraction 1"), jobs());
    assertEquals(components.size(), result("sent"));
  }

  @Test
  void aGraphWhoseVerticesDoNotFitGoesOnWithStars() throws Exception {
    String[] lines = {"0\t1", "1\t2", "2\t3", "3\t4", "4\t5", "5\t6", "6\t7", "8"};
    run(2, 4, lines);
    assertEquals(List.of("contraction 1", "large-star 1", "small-star 1"), jobs().subList(0, 3));
    assertFalse(jobs().contains("contraction 2"), "there are 9 pairs at least");
  }

  @Test
  void aLargeFileOfFewVerticesIsContractedWhenTheFirstStarHasShownThatTheyFit() throws Exception {
    long far = Long.MAX_VALUE - 100;
    List<String> edges = new ArrayList<>();
    for (long vertex = far; vertex < far + 30; vertex++) {
      for (long other = vertex + 1; other < far + 30; other++) {
        edges.add(vertex + "\t" + other);
      }
    }
    String[] lines = edges.toArray(new String[0]);
    assertEquals(new NaiveAnswers(lines).components(), run(2, 35, lines));
    assertEquals(List.of("large-star 1", "contraction 1"), jobs());
    assertTrue(result("sent") < lines.length, "maps contract before they send");
  }

  @Test
  void aBoundThatNoPairFitsIsRefused() throws Exception {
    local = new LocalRun(directory);
    String input = local.write("edges.txt", "0\t1");
    for (String bound : new String[] {"1", "-1", "268435457", "x"}) {
      String[] args = {
        "components-tuned", input, local.path("out"), "--vertices-in-memory=" + bound
      };
      assertEquals(2, local.run(1, args), bound);
      assertTrue(local.complaint().contains("--vertices-in-memory must be"), local.complaint());
    }
  }
}

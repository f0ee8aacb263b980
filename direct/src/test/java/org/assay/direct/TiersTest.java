package org.assay.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task gets directories of its tier that it can use, or others for a reason that is told. */
class TiersTest {
  private static final String CONTAINER = "usercache/u/appcache/application_1_0001";

  @TempDir Path node;
  private final Configuration conf = new Configuration(false);

  @BeforeEach
  void tagged() throws IOException {
    for (String name : Arrays.asList("ssd", "d1", "d2")) {
      Files.createDirectories(node.resolve(name));
    }
    conf.set(Tiers.DIRECTORIES, tags("[SSD]ssd", "[DISK]d1", "[disk]d2"));
    conf.setLong(Tiers.TASK_BYTES, 0);
    conf.set(Tiers.FULL, "1.0");
  }

  private String tags(String... entries) {
    return Arrays.stream(entries)
        .map(entry -> entry.replace("]", "]" + node + "/"))
        .collect(Collectors.joining(","));
  }

  private String[] given(String... names) {
    return Arrays.stream(names)
        .map(name -> node.resolve(name).resolve(CONTAINER).toString())
        .toArray(String[]::new);
  }

  private void check(Outcome outcome, List<String> names, Tiers.Choice choice) {
    assertEquals(outcome, choice.outcome);
    assertEquals(Arrays.asList(given(names.toArray(new String[0]))), choice.directories);
  }

  private Tiers.Choice choose(String tier) {
    return Tiers.choose(conf, tier, given("d1", "ssd", "d2"), 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ssd", "SSD", "Ssd"})
  void tierIsNamedInAnyCase(String tier) {
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choose(tier));
  }

  @Test
  void allDirectoriesOfTheTierAreGiven() {
    check(Outcome.DIRECTED, Arrays.asList("d1", "d2"), choose("disk"));
  }

  @Test
  void tagsComeFromTheNodesFile() throws IOException {
    Path file = node.resolve("local-dirs");
    String lines = tags("[SSD]ssd", "[DISK]d1").replace(',', '\n') + "\n\n";
    Files.write(file, lines.getBytes(StandardCharsets.UTF_8));
    conf.unset(Tiers.DIRECTORIES);
    conf.set(Tiers.FILE, file.toString());
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choose("ssd"));
  }

  @Test
  void innermostTagCounts() {
    conf.set(Tiers.DIRECTORIES, tags("[DISK]", "[SSD]ssd"));
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choose("ssd"));
    check(Outcome.DIRECTED, Arrays.asList("d1", "d2"), choose("disk"));
  }

  @Test
  void pathsThatOnlyBeginAlikeAreOthers() {
    conf.set(Tiers.DIRECTORIES, tags("[SSD]d"));
    check(Outcome.OVERFLOW_MISSING, Arrays.asList("d1", "ssd", "d2"), choose("ssd"));
  }

  @Test
  void fullTierOverflows() {
    conf.set(Tiers.DIRECTORIES, tags("[SSD]ssd"));
    conf.set(Tiers.FULL, "0");
    conf.unset(Tiers.TASK_BYTES);
    check(Outcome.OVERFLOW_FULL, Arrays.asList("d1", "d2"), choose("ssd"));
  }

  @Test
  void taskThatDoesNotFitOverflows() {
    conf.set(Tiers.DIRECTORIES, tags("[SSD]ssd"));
    conf.setLong(Tiers.TASK_BYTES, Long.MAX_VALUE / 2);
    check(Outcome.OVERFLOW_FULL, Arrays.asList("d1", "d2"), choose("ssd"));
  }

  @Test
  void missingTierOverflows() throws IOException {
    Files.delete(node.resolve("ssd"));
    check(Outcome.OVERFLOW_MISSING, Arrays.asList("d1", "d2"), choose("ssd"));
  }

  @Test
  void tierThatTheNodeManagerGaveUpOverflows() {
    Tiers.Choice choice = Tiers.choose(conf, "ssd", given("d1", "d2"), 0);
    check(Outcome.OVERFLOW_MISSING, Arrays.asList("d1", "d2"), choice);
  }

  @Test
  void readOnlyTierOverflows() {
    assumeFalse(System.getProperty("user.name").equals("root"), "root may write anywhere");
    assertEquals(true, node.resolve("ssd").toFile().setWritable(false));
    check(Outcome.OVERFLOW_READ_ONLY, Arrays.asList("d1", "d2"), choose("ssd"));
  }

  @Test
  void oneUsableDirectoryIsEnough() throws IOException {
    Files.delete(node.resolve("d1"));
    check(Outcome.DIRECTED, Collections.singletonList("d2"), choose("disk"));
  }

  @Test
  void laterAttemptsGoWhereMoreIsFree() {
    check(Outcome.OVERFLOW_RETRIED, Arrays.asList("d1", "d2"), again("ssd", 1, 1));
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), again("ssd", 1, 9999));
    check(Outcome.DIRECTED, Arrays.asList("d1", "d2"), again("disk", 1, 1));
  }

  /** An SSD that fails each write looks as empty as before. */
  @Test
  void everyThirdAttemptLeavesATierThatLooksEmpty() {
    for (int attempt = 0; attempt < 9; attempt++) {
      boolean third = attempt % 3 == 2;
      Tiers.Choice choice = again("ssd", attempt, 9999);
      assertEquals(third ? Outcome.OVERFLOW_RETRIED : Outcome.DIRECTED, choice.outcome);
      assertEquals(Arrays.asList(third ? given("d1", "d2") : given("ssd")), choice.directories);
    }
  }

  /** A job that is kept to disks comes to a small SSD no more often than that. */
  @Test
  void ofTwoLaterAttemptsOneIsWhereMoreIsFree() {
    check(Outcome.OVERFLOW_RETRIED, Collections.singletonList("ssd"), again("disk", 2, 1));
    check(Outcome.DIRECTED, Arrays.asList("d1", "d2"), again("disk", 3, 1));
  }

  @Test
  void thirdAttemptStaysWhereNothingElseHasRoom() throws IOException {
    Files.delete(node.resolve("d1"));
    Files.delete(node.resolve("d2"));
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), again("ssd", 2, 1));
  }

  /** An attempt where so much is free on the SSD, and 1000 on the disks. */
  private Tiers.Choice again(String tier, int attempt, long freeOnSsd) {
    List<String> ssd = Arrays.asList(given("ssd"));
    return Tiers.choose(
        conf, tier, given("d1", "ssd", "d2"), attempt, all -> all.equals(ssd) ? freeOnSsd : 1000);
  }

  @Test
  void fullTierIsNotLeftForAnotherFullOne() {
    conf.set(Tiers.FULL, "0");
    conf.unset(Tiers.TASK_BYTES);
    conf.set(Tiers.DIRECTORIES, tags("[SSD]ssd", "[DISK]d1", "[DISK]d2"));
    check(Outcome.OVERFLOW_FULL, Arrays.asList("d1", "ssd", "d2"), choose("disk"));
  }

  @Test
  void whereThereAreNoOthersAllAreKept() {
    Tiers.Choice choice = Tiers.choose(conf, "ssd", given("ssd"), 2);
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choice);
  }

  @Test
  void untaggedNodeOverflows() {
    conf.unset(Tiers.DIRECTORIES);
    conf.set(Tiers.FILE, node.resolve("none").toString());
    check(Outcome.OVERFLOW_UNTAGGED, Arrays.asList("d1", "ssd", "d2"), choose("ssd"));
  }

  @Test
  void unknownTierOverflows() {
    check(Outcome.OVERFLOW_UNTAGGED, Arrays.asList("d1", "ssd", "d2"), choose("nvme"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/ssd/local", "[SSD]ssd/local", "[SSD] /ssd", "[S D]/ssd", "[SSD]/a\0b"})
  void badTagsKeepAllDirectories(String tags) {
    conf.set(Tiers.DIRECTORIES, tags);
    check(Outcome.OVERFLOW_BAD_TAGS, Arrays.asList("d1", "ssd", "d2"), choose("ssd"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"most", "90", "-0.1", "1.5", "NaN", "0,9", "0.9f"})
  void badShareKeepsAllDirectories(String share) {
    conf.set(Tiers.FULL, share);
    checkSaid(
        "assay.direct.full is '" + share + "'; set it to a share from 0 to 1, such as 0.9",
        () -> Tiers.fullShare(conf));
    check(Outcome.OVERFLOW_BAD_NUMBER, Arrays.asList("d1", "ssd", "d2"), choose("ssd"));
  }

  private static void checkSaid(String sentence, Executable reading) {
    assertEquals(sentence, assertThrows(NumberFormatException.class, reading).getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.99999", ".99999", "1", "1.", "1.0"})
  void shareIsADecimalNumber(String share) {
    conf.set(Tiers.FULL, share);
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choose("ssd"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"much", "100x", "-1", "-1m"})
  void badBytesKeepAllDirectories(String bytes) {
    conf.set(Tiers.TASK_BYTES, bytes);
    checkSaid(
        "assay.direct.task.bytes is '" + bytes + "'; set it to 0 or more, such as 100m",
        () -> Tiers.taskBytes(conf));
    check(Outcome.OVERFLOW_BAD_NUMBER, Arrays.asList("d1", "ssd", "d2"), choose("ssd"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1m"})
  void bytesMayHaveAUnit(String bytes) {
    conf.set(Tiers.TASK_BYTES, bytes);
    check(Outcome.DIRECTED, Collections.singletonList("ssd"), choose("ssd"));
  }

  @Test
  void executorOfAnOlderHadoopIsRefused() {
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> TierExecutor.check(Object.class));
    assertTrue(refused.getMessage().startsWith("TierExecutor needs Hadoop 3.3 or 3.4; this is "));
  }

  @Test
  void containerGetsTheTierThatItsEnvironmentNames() {
    TierExecutor executor = new TierExecutor();
    executor.setConf(conf);
    Map<String, String> environment = new HashMap<>();
    environment.put(TierExecutor.LOCAL_DIRECTORIES, String.join(",", given("d1", "ssd", "d2")));
    Map<String, String> before = new HashMap<>(environment);
    executor.narrow(environment);
    assertEquals(before, environment);
    environment.put(TierExecutor.TIER, "ssd");
    executor.narrow(environment);
    assertEquals(given("ssd")[0], environment.get(TierExecutor.LOCAL_DIRECTORIES));
  }
}

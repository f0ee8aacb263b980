package org.assay.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor;

/**
 * Gives each task one of the NodeManager's local directories, in turn, maps and reduces apart.
 *
 * <p>A task by itself draws a directory at random for each file (LocalDirAllocator), so that a few tasks land far from the
 * fractions that the directories stand for. In turn, n tasks of a kind are off by less than one task. Containers that
 * are no MapReduce tasks keep all directories. The shuffle looks into all directories anyway.
 */
public final class OneDirectoryPerTask extends DefaultContainerExecutor {
  private static final String LOCAL_DIRECTORIES = "LOCAL_DIRS";

  private static final Pattern ATTEMPT = Pattern.compile("\\battempt_\\d+_\\d+_([mr])_\\d+_\\d+\\b");

  private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();

  @Override
  public void writeLaunchEnv(
      OutputStream out,
      Map<String, String> environment,
      Map<Path, List<String>> resources,
      List<String> command,
      Path logDir,
      String user,
      String outFilename,
      LinkedHashSet<String> nmVars)
      throws IOException {
    Matcher attempt = ATTEMPT.matcher(String.join(" ", command));
    String directories = environment.get(LOCAL_DIRECTORIES);
    if (directories != null && attempt.find()) {
      String[] all = directories.split(",");
      int turn = turns.computeIfAbsent(attempt.group(1), kind -> new AtomicInteger()).getAndIncrement();
      environment.put(LOCAL_DIRECTORIES, all[turn % all.length]);
    }
    super.writeLaunchEnv(out, environment, resources, command, logDir, user, outFilename, nmVars);
  }
}

package org.assay.direct;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts containers with the local directories of the tier that their environment names.
 *
 * <p>The value of {@code yarn.nodemanager.container-executor.class}, for engines that cannot direct
 * their own tasks. The tier's limit is looked at when a container starts, and not again. A
 * NodeManager has one executor, so that this one cannot be used beside LinuxContainerExecutor.
 */
public final class TierExecutor extends DefaultContainerExecutor {
  static final String TIER = "ASSAY_DIRECT_TIER";
  static final String LOCAL_DIRECTORIES = "LOCAL_DIRS";

  private static final Logger LOG = LoggerFactory.getLogger(TierExecutor.class);

  /** Throws where this Hadoop is too old: its NodeManager then does not start. */
  public TierExecutor() {
    check(DefaultContainerExecutor.class);
  }

  /** Without this method, containers would be started as if they named no tier, and nobody told. */
  static void check(Class<?> executor) {
    try {
      executor.getMethod(
          "writeLaunchEnv",
          OutputStream.class,
          Map.class,
          Map.class,
          List.class,
          Path.class,
          String.class,
          String.class,
          LinkedHashSet.class);
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(
          "TierExecutor needs Hadoop 3.3 or 3.4; this is " + VersionInfo.getVersion(), e);
    }
  }

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
    narrow(environment);
    super.writeLaunchEnv(out, environment, resources, command, logDir, user, outFilename, nmVars);
  }

  void narrow(Map<String, String> environment) {
    String tier = environment.get(TIER);
    String directories = environment.get(LOCAL_DIRECTORIES);
    if (tier != null && directories != null) {
      Tiers.Choice choice = Tiers.choose(getConf(), tier, directories.split(","), 0);
      environment.put(LOCAL_DIRECTORIES, String.join(",", choice.directories));
      LOG.info("{} of {}: {}", choice.outcome, environment.get("CONTAINER_ID"), choice.directories);
    }
  }
}

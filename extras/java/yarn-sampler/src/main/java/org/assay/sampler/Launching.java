package org.assay.sampler;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.ApplicationConstants.Environment;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** How the application's processes are started in containers. */
final class Launching {
  static final String JAR = "sampler.jar";

  // Small on purpose: what such a JVM reserves must also fit where YARN bounds virtual memory.
  private static final List<String> JVM =
      List.of(
          "-Xmx64m",
          "-Xss512k",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:ReservedCodeCacheSize=24m",
          "-XX:CompressedClassSpaceSize=24m");

  private Launching() {}

  /** A process of one of our main classes; {@code jar} is the application's in the store. */
  static ContainerLaunchContext of(
      Configuration conf, Path jar, Class<?> main, List<String> arguments, Credentials credentials)
      throws IOException {
    FileStatus status = jar.getFileSystem(conf).getFileStatus(jar);
    LocalResource resource =
        LocalResource.newInstance(
            URL.fromPath(jar),
            LocalResourceType.FILE,
            LocalResourceVisibility.APPLICATION,
            status.getLen(),
            status.getModificationTime());
    String command =
        String.join(
            " ",
            Environment.JAVA_HOME.$$() + "/bin/java",
            String.join(" ", JVM),
            main.getName(),
            String.join(" ", arguments),
            "1>" + ApplicationConstants.LOG_DIR_EXPANSION_VAR + "/stdout",
            "2>" + ApplicationConstants.LOG_DIR_EXPANSION_VAR + "/stderr");
    DataOutputBuffer tokens = new DataOutputBuffer();
    credentials.writeTokenStorageToStream(tokens);
    return ContainerLaunchContext.newInstance(
        Map.of(JAR, resource),
        environment(conf),
        List.of(command),
        null,
        ByteBuffer.wrap(tokens.getData(), 0, tokens.getLength()),
        null);
  }

  /** The class path is Hadoop's on that node, as for jobs. */
  private static Map<String, String> environment(Configuration conf) {
    StringBuilder path = new StringBuilder(Environment.PWD.$$() + "/" + JAR);
    String[] yarn =
        conf.getTrimmedStrings(
            YarnConfiguration.YARN_APPLICATION_CLASSPATH,
            YarnConfiguration.DEFAULT_YARN_CROSS_PLATFORM_APPLICATION_CLASSPATH);
    String[] mapReduce =
        conf.getTrimmedStrings(
            MRJobConfig.MAPREDUCE_APPLICATION_CLASSPATH,
            MRJobConfig.DEFAULT_MAPREDUCE_CROSS_PLATFORM_APPLICATION_CLASSPATH);
    for (String[] entries : List.of(yarn, mapReduce)) {
      for (String entry : entries) {
        path.append(ApplicationConstants.CLASS_PATH_SEPARATOR).append(entry);
      }
    }
    Map<String, String> environment = new HashMap<>();
    environment.put(Environment.CLASSPATH.name(), path.toString());
    environment.put("MALLOC_ARENA_MAX", "1");
    return environment;
  }
}

package org.assay.sampler;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationResourceUsageReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.client.util.YarnClientUtils;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * Samples the nodes of a cluster until its own input ends, and puts what was read into a local
 * folder, a file {@code HOST.readings.gz} for each node.
 *
 * <p>It prints, a line for each: {@code @clock OFFSET UNCERTAINTY} (of its own clock against the
 * store's, in seconds), {@code @missing HOST WHY}, {@code @taken CONTAINERS MEMORY_MB VCORES}, {@code
 * @ready} when all samplers run or time is up, and {@code @failed WHY}.
 */
public final class SamplerClient {
  static final String RUNNING = "running";
  static final String READINGS = ".readings-";

  private static final Set<YarnApplicationState> OVER =
      Set.of(
          YarnApplicationState.FINISHED, YarnApplicationState.FAILED, YarnApplicationState.KILLED);
  private static final long POLL_MS = 250;
  private static final long LEAVE_MS = 75_000;

  private final Configuration conf;
  private final Map<String, String> options;
  private final FileSystem store;
  private final Path folder;
  private final YarnClient yarn = YarnClient.createYarnClient();
  private final CountDownLatch inputEnded = new CountDownLatch(1);
  private ApplicationId application;

  private SamplerClient(Configuration conf, Map<String, String> options) throws IOException {
    this.conf = conf;
    this.options = options;
    this.store = FileSystem.get(conf);
    this.folder = store.makeQualified(new Path(options.get("base")));
  }

  /**
   * Options: {@code --base} (the folder in the store), {@code --jar}, {@code --out} (local), {@code
   * --interval-ms}, {@code --memory-mb}, {@code --begin-s}, and if wanted {@code --hosts} and
   * {@code --queue}.
   */
  public static void main(String[] args) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (int at = 0; at + 1 < args.length; at += 2) {
      options.put(args[at].replaceFirst("^--", ""), args[at + 1]);
    }
    System.exit(new SamplerClient(new YarnConfiguration(), options).run());
  }

  private int run() throws IOException, YarnException, InterruptedException {
    watchInput();
    yarn.init(conf);
    yarn.start();
    List<String> hosts = hosts();
    if (hosts.isEmpty()) {
      say("@failed none of the nodes has a running NodeManager");
      return 1;
    }
    ShutdownHookManager.get().addShutdownHook(this::leaveNothing, 20);
    store.mkdirs(folder);
    say(StoreClock.compare(store, folder, new OwnClock()).line());
    store.copyFromLocalFile(new Path(options.get("jar")), new Path(folder, Launching.JAR));
    Mark mark = new Mark(store, folder);
    mark.make();
    submit(hosts);
    boolean well = waitForSamplers(hosts, mark) && holdUntilInputEnds(mark);
    mark.remove();
    if (well) {
      well = waitForEnd();
      fetch(hosts);
    }
    return well ? 0 : 1;
  }

  /** Those that were asked for and have a NodeManager that runs. */
  private List<String> hosts() throws IOException, YarnException {
    Set<String> known = new LinkedHashSet<>();
    for (NodeReport node : yarn.getNodeReports(NodeState.RUNNING)) {
      known.add(node.getNodeId().getHost());
    }
    if (!options.containsKey("hosts")) {
      return new ArrayList<>(known);
    }
    List<String> found = new ArrayList<>();
    for (String host : options.get("hosts").split(",", -1)) {
      if (known.contains(host)) {
        found.add(host);
      } else {
        say("@missing " + host + " the ResourceManager has no running node of that name");
      }
    }
    return found;
  }

  private void submit(List<String> hosts) throws IOException, YarnException {
    YarnClientApplication created = yarn.createApplication();
    ApplicationSubmissionContext context = created.getApplicationSubmissionContext();
    Credentials credentials = new Credentials();
    if (UserGroupInformation.isSecurityEnabled()) {
      store.addDelegationTokens(YarnClientUtils.getRmPrincipal(conf), credentials);
    }
    long lookMs =
        2000 + 10L * hosts.size(); // the NameNode gets no more than 100 such questions a second
    int memoryMb = Integer.parseInt(options.get("memory-mb"));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                folder.toString(),
                String.valueOf(memoryMb),
                options.get("interval-ms"),
                String.valueOf(lookMs)));
    arguments.addAll(hosts);
    context.setApplicationName("assay sampler");
    context.setApplicationType("ASSAY");
    context.setMaxAppAttempts(1);
    context.setResource(Resource.newInstance(Math.max(256, memoryMb), 1));
    context.setAMContainerSpec(
        Launching.of(
            conf, new Path(folder, Launching.JAR), SamplerMaster.class, arguments, credentials));
    if (options.containsKey("queue")) {
      context.setQueue(options.get("queue"));
    }
    application = yarn.submitApplication(context);
  }

  /** False if the application ended. Nodes whose sampler does not come in time are named. */
  private boolean waitForSamplers(List<String> hosts, Mark mark)
      throws IOException, YarnException, InterruptedException {
    long untilNs =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(options.get("begin-s")));
    Set<String> absent = new TreeSet<>(hosts);
    while (!absent.isEmpty() && System.nanoTime() < untilNs) {
      if (isOver()) {
        return false;
      }
      if (inputEnded.await(POLL_MS, TimeUnit.MILLISECONDS)) {
        break;
      }
      mark.renew();
      Path running = new Path(folder, RUNNING);
      if (store.exists(running)) {
        for (FileStatus one : store.listStatus(running)) {
          absent.remove(one.getPath().getName());
        }
      }
    }
    for (String host : absent) {
      say(
          "@missing "
              + host
              + " no container of the sampler ran there within "
              + options.get("begin-s")
              + " s");
    }
    ApplicationResourceUsageReport used =
        yarn.getApplicationReport(application).getApplicationResourceUsageReport();
    say(
        String.format(
            Locale.ROOT,
            "@taken %d %d %d",
            used.getNumUsedContainers(),
            used.getUsedResources().getMemorySize(),
            used.getUsedResources().getVirtualCores()));
    say("@ready");
    return !isOver();
  }

  /** False if the application ended before. */
  private boolean holdUntilInputEnds(Mark mark)
      throws IOException, YarnException, InterruptedException {
    while (!inputEnded.await(Mark.RENEWAL_MS, TimeUnit.MILLISECONDS)) {
      if (isOver()) {
        return false;
      }
      mark.renew();
    }
    return true;
  }

  private boolean waitForEnd() throws IOException, YarnException, InterruptedException {
    long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAVE_MS);
    while (System.nanoTime() < untilNs) {
      if (OVER.contains(yarn.getApplicationReport(application).getYarnApplicationState())) {
        return true;
      }
      Thread.sleep(POLL_MS);
    }
    say("@failed the application did not end within " + LEAVE_MS / 1000 + " s");
    return false;
  }

  /** Whether the application has ended, which is said. */
  private boolean isOver() throws IOException, YarnException {
    ApplicationReport report = yarn.getApplicationReport(application);
    boolean over = OVER.contains(report.getYarnApplicationState());
    if (over) {
      say("@failed the application ended: " + oneLine(report.getDiagnostics()));
    }
    return over;
  }

  /** Puts each node's parts one behind the other, which is a whole gzip file again. */
  private void fetch(List<String> hosts) throws IOException {
    java.nio.file.Path out = java.nio.file.Path.of(options.get("out"));
    for (String host : hosts) {
      FileStatus[] parts = store.globStatus(new Path(folder, host + READINGS + "*"));
      if (parts == null || parts.length == 0) {
        say("@missing " + host + " its sampler wrote nothing");
        continue;
      }
      Arrays.sort(parts);
      try (OutputStream local = Files.newOutputStream(out.resolve(host + ".readings.gz"))) {
        for (FileStatus part : parts) {
          try (InputStream there = store.open(part.getPath())) {
            there.transferTo(local);
          }
        }
      }
    }
  }

  /** Ends the application, should it still run, and removes its folder. */
  private void leaveNothing() {
    try {
      try {
        if (application != null) {
          ApplicationReport report = yarn.getApplicationReport(application);
          if (!OVER.contains(report.getYarnApplicationState())) {
            yarn.killApplication(application);
          }
        }
      } finally { // a ResourceManager that was started anew may not know the application
        store.delete(folder, true);
      }
    } catch (IOException | YarnException away) {
      say("@failed it may have left " + folder + " behind: " + oneLine(away.toString()));
    }
  }

  private void watchInput() {
    Thread watcher =
        new Thread(
            () -> {
              try {
                System.in.transferTo(OutputStream.nullOutputStream());
              } catch (IOException ended) {
                say("@failed " + oneLine(ended.toString()));
              } finally {
                inputEnded.countDown();
              }
            },
            "input");
    watcher.setDaemon(true);
    watcher.start();
  }

  private static String oneLine(String text) {
    return text == null ? "" : text.strip().replaceAll("\\s+", " ");
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

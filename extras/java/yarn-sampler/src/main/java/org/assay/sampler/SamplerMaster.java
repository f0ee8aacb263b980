package org.assay.sampler;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * The application's master: asks for one container on each node and for no other place, starts the
 * samplers, and stays until they have ended. If the client is gone it removes the folder.
 */
public final class SamplerMaster {
  private static final long HEARTBEAT_MS = 1000;

  /** For the samplers to write what they have. */
  private static final long LEAVE_MS = 60_000;

  private final Configuration conf;
  private final Path folder;
  private final List<String> times;
  private final Resource resource;
  private final Map<String, ContainerRequest> waiting = new HashMap<>();
  private final Set<ContainerId> running = new HashSet<>();
  private final AMRMClient<ContainerRequest> resourceManager = AMRMClient.createAMRMClient();
  private final NMClient nodeManagers = NMClient.createNMClient();

  private SamplerMaster(Configuration conf, Path folder, int memoryMb, List<String> times) {
    this.conf = conf;
    this.folder = folder;
    this.times = times;
    this.resource = Resource.newInstance(memoryMb, 1);
  }

  /**
   * Arguments: the application's folder, MB of a container, the two times of a sampler, the nodes.
   */
  public static void main(String[] args) throws Exception {
    List<String> given = List.of(args);
    SamplerMaster master =
        new SamplerMaster(
            new YarnConfiguration(),
            new Path(given.get(0)),
            Integer.parseInt(given.get(1)),
            given.subList(2, 4));
    master.run(given.subList(4, given.size()));
  }

  private void run(List<String> hosts) throws IOException, YarnException, InterruptedException {
    resourceManager.init(conf);
    resourceManager.start();
    nodeManagers.init(conf);
    nodeManagers.start();
    resourceManager.registerApplicationMaster("", -1, "");
    for (String host : hosts) {
      ContainerRequest request =
          new ContainerRequest(
              resource,
              new String[] {host},
              null,
              Priority.newInstance(1),
              /* relaxLocality= */ false);
      waiting.put(host, request);
      resourceManager.addContainerRequest(request);
    }
    FileSystem store = folder.getFileSystem(conf);
    Mark.State state = untilEnded(new Mark(store, folder));
    if (state == Mark.State.LOST) {
      store.delete(folder, true);
    }
    resourceManager.unregisterApplicationMaster(
        state == Mark.State.LOST ? FinalApplicationStatus.FAILED : FinalApplicationStatus.SUCCEEDED,
        state == Mark.State.LOST ? "the client is gone" : "",
        "");
    nodeManagers.stop();
    resourceManager.stop();
  }

  /**
   * Heartbeats until the client has ended the sampling, or is gone, and the samplers have ended.
   */
  private Mark.State untilEnded(Mark mark) throws IOException, YarnException, InterruptedException {
    Mark.State state = Mark.State.HELD;
    long leftMs = LEAVE_MS;
    while (state == Mark.State.HELD || (!running.isEmpty() && leftMs > 0)) {
      AllocateResponse response = resourceManager.allocate(0.5f);
      for (Container container : response.getAllocatedContainers()) {
        take(container, state);
      }
      for (ContainerStatus ended : response.getCompletedContainersStatuses()) {
        running.remove(ended.getContainerId());
      }
      Thread.sleep(HEARTBEAT_MS);
      if (state == Mark.State.HELD) {
        state = mark.state();
      } else {
        leftMs -= HEARTBEAT_MS;
      }
    }
    return state;
  }

  /** Starts a sampler in a container; a node that refuses costs its own readings only. */
  private void take(Container container, Mark.State state) {
    String host = container.getNodeId().getHost();
    ContainerRequest request = waiting.remove(host);
    if (request == null || state != Mark.State.HELD) {
      resourceManager.releaseAssignedContainer(container.getId());
      return;
    }
    resourceManager.removeContainerRequest(request);
    List<String> arguments = List.of(folder.toString(), host, times.get(0), times.get(1));
    try {
      nodeManagers.startContainer(
          container,
          Launching.of(
              conf, new Path(folder, Launching.JAR), Sampler.class, arguments, credentials()));
      running.add(container.getId());
    } catch (IOException | YarnException refused) {
      System.err.println("no sampler on " + host + ": " + refused);
      resourceManager.releaseAssignedContainer(container.getId());
    }
  }

  /** What this process was given, without its right to talk to the ResourceManager. */
  private static Credentials credentials() throws IOException {
    Credentials own = new Credentials(UserGroupInformation.getCurrentUser().getCredentials());
    own.getAllTokens().removeIf(token -> token.getKind().equals(AMRMTokenIdentifier.KIND_NAME));
    return own;
  }
}

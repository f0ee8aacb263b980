package org.assay.levitated;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.crypto.SecretKey;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.util.Progressable;

/** Where the outputs of a job's maps are, as the application master tells a reducer. */
final class MapOutputs {
  /** How long it waits between questions, as the stock shuffle does. */
  private static final long POLL_MS = 1000;

  private static final int MOST_EVENTS = 10_000;

  /** The attempt whose output it is, and the address of the shuffle service that has it. */
  static final class Location {
    final TaskAttemptID attempt;
    final URI service;

    Location(TaskAttemptID attempt, URI service) {
      this.attempt = attempt;
      this.service = service;
    }
  }

  private final JobConf conf;
  private final TaskAttemptID reduce;
  private final TaskUmbilicalProtocol umbilical;
  private final Progressable progress;
  private final TaskStatus status;
  private final SecretKey secret;
  private final Map<TaskID, Location> locations = new TreeMap<>();

  /** Maps that failed in a job that goes on without them. */
  private final Set<TaskID> lost = new TreeSet<>();

  private int known;

  MapOutputs(
      JobConf conf,
      org.apache.hadoop.mapreduce.TaskAttemptID reduce,
      TaskUmbilicalProtocol umbilical,
      Progressable progress,
      TaskStatus status,
      SecretKey secret) {
    this.conf = conf;
    this.reduce = (TaskAttemptID) reduce;
    this.umbilical = umbilical;
    this.progress = progress;
    this.status = status;
    this.secret = secret;
  }

  /** Waits until all maps have ended; those that have an output. */
  List<TaskID> awaitAll() throws IOException {
    poll();
    while (locations.size() + lost.size() < conf.getNumMapTasks()) {
      pause(POLL_MS);
      poll();
    }
    return new ArrayList<>(locations.keySet());
  }

  /** Where a map's output is; waits while the map runs again. */
  Location await(TaskID map) throws IOException {
    while (!locations.containsKey(map)) {
      if (lost.contains(map)) {
        throw new IOException(map + " failed when it ran again");
      }
      pause(POLL_MS);
      poll();
    }
    return locations.get(map);
  }

  /** The address of a map's output for this reducer. */
  URL address(Location location) throws IOException {
    return new URL(
        "http",
        location.service.getHost(),
        location.service.getPort(),
        "/mapOutput?job="
            + reduce.getJobID()
            + "&reduce="
            + reduce.getTaskID().getId()
            + "&map="
            + location.attempt);
  }

  /**
   * Tells the application master that an output can't be read: such a map runs again in the end.
   */
  void failed(Location location) {
    status.addFetchFailedMap(location.attempt);
    progress.progress();
  }

  /** Takes news of maps that have ended, or whose output is no more. */
  void poll() throws IOException {
    TaskCompletionEvent[] events;
    do {
      MapTaskCompletionEventsUpdate update =
          umbilical.getMapCompletionEvents(reduce.getJobID(), known, MOST_EVENTS, reduce);
      if (update.shouldReset()) {
        known = 0;
        locations.clear();
        lost.clear();
      }
      events = update.getMapTaskCompletionEvents();
      known += events.length;
      for (TaskCompletionEvent event : events) {
        take(event);
      }
    } while (events.length == MOST_EVENTS);
    progress.progress();
  }

  private void take(TaskCompletionEvent event) {
    TaskAttemptID attempt = event.getTaskAttemptId();
    TaskID map = attempt.getTaskID();
    Location before = locations.get(map);
    switch (event.getTaskStatus()) {
      case SUCCEEDED:
        locations.put(map, new Location(attempt, URI.create(event.getTaskTrackerHttp())));
        break;
      case TIPFAILED:
        locations.remove(map);
        lost.add(map);
        break;
      default:
        if (before != null && before.attempt.equals(attempt)) {
          locations.remove(map);
        }
    }
  }

  void pause(long milliseconds) throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the reducer was told to end");
    }
  }

  Configuration conf() {
    return conf;
  }

  SecretKey secret() {
    return secret;
  }

  int reducer() {
    return reduce.getTaskID().getId();
  }
}

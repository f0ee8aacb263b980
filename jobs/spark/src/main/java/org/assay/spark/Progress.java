package org.assay.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;

/**
 * Prints lines for the person who waits: {@code assay: stage ID NAME N %}, in tens of percent of
 * the stage's tasks.
 */
final class Progress extends SparkListener {
  private final Map<Integer, Stage> stages = new HashMap<>();

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    StageInfo info = event.stageInfo();
    stages.put(info.stageId(), new Stage(info));
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    Stage stage = stages.get(event.stageId());
    if (stage != null && event.taskInfo().successful()) {
      stage.finishTask();
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    stages.remove(event.stageInfo().stageId());
  }

  /** Prints one line. */
  static void say(String line) {
    System.out.println("assay: " + line);
  }

  private static final class Stage {
    private final String title;
    private final int tasks;
    private int finished;

    Stage(StageInfo info) {
      title = "stage " + info.stageId() + " " + info.name();
      tasks = info.numTasks();
      say(title + " 0 %");
    }

    void finishTask() {
      int before = 10 * finished / tasks;
      finished++;
      int now = 10 * finished / tasks;
      if (now > before && now <= 10) {
        say(title + " " + 10 * now + " %");
      }
    }
  }
}

package org.assay.jobs.normalise;

import java.util.EnumMap;
import java.util.Map;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

/** The counters of one task, looked up once instead of per record. */
final class Tally {
  private final Map<NormaliseCounter, Counter> counters = new EnumMap<>(NormaliseCounter.class);

  Tally(TaskInputOutputContext<?, ?, ?, ?> context) {
    for (NormaliseCounter counter : NormaliseCounter.values()) {
      counters.put(counter, context.getCounter(counter));
    }
  }

  void add(NormaliseCounter counter, long more) {
    counters.get(counter).increment(more);
  }
}

package org.assay.jobs.distances;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.assay.jobs.driver.UsageException;
import org.assay.jobs.friendlists.FriendListsJob;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/** The vertices from which hops are counted, as the tasks of a job know them. */
final class Sources {
  /** Each source has a counter of its own in one job, and Hadoop bounds their number. */
  static final int MOST = 32;

  private static final String PROPERTY = "assay.distances.sources";
  private static final String FOUND = "org.assay.jobs.distances.Source";

  private final IdList ids = new IdList();

  private Sources() {}

  /**
   * Reads what a user gives: vertices apart by plus signs or spaces.
   *
   * @throws UsageException if there is none, too many, or one that isn't a vertex number
   */
  static Collection<Long> parse(String given) throws UsageException {
    TreeSet<Long> sources = new TreeSet<>();
    for (String field : given.trim().split("[+ ]+", -1)) {
      try {
        sources.add(Long.parseLong(field));
      } catch (NumberFormatException e) {
        throw refusal(given);
      }
    }
    if (sources.first() < 0 || sources.size() > MOST) {
      throw refusal(given);
    }
    return sources;
  }

  private static UsageException refusal(String given) {
    return new UsageException(
        "option --from must be 1 to "
            + MOST
            + " vertex numbers with + or spaces between them, got \""
            + given
            + "\"");
  }

  /** Tells the tasks of a job. */
  static void put(Configuration conf, Collection<Long> sources) {
    List<String> texts = new ArrayList<>();
    sources.forEach(source -> texts.add(source.toString()));
    conf.setStrings(PROPERTY, texts.toArray(new String[0]));
  }

  /** What the tasks of a job were told. */
  static Sources of(Configuration conf) {
    Sources sources = new Sources();
    for (String text : conf.getTrimmedStrings(PROPERTY)) {
      sources.ids.add(Long.parseLong(text));
    }
    sources.ids.sortUnique();
    return sources;
  }

  boolean contains(long vertex) {
    return ids.indexOf(vertex) >= 0;
  }

  /**
   * Refuses sources that no task has seen.
   *
   * @param counters of the job whose reducer was {@link SeekingReducer}
   */
  static void requireFound(Collection<Long> sources, Counters counters) throws UsageException {
    List<String> missing = new ArrayList<>();
    for (long source : sources) {
      if (counters.findCounter(FOUND, Long.toString(source)).getValue() == 0) {
        missing.add(Long.toString(source));
      }
    }
    if (!missing.isEmpty()) {
      throw new UsageException(
          "option --from names what is no vertex of the graph: "
              + String.join(", ", missing)
              + "; give vertices that the graph has");
    }
  }

  /** Writes friend lists, and tells which of the sources have one. */
  static final class SeekingReducer extends FriendListsJob.ListReducer {
    private Sources sources;

    @Override
    protected void setup(Context context) {
      sources = Sources.of(context.getConfiguration());
    }

    @Override
    protected void reduce(VertexId vertex, Iterable<VertexId> values, Context context)
        throws IOException, InterruptedException {
      if (sources.contains(vertex.vertex())) {
        context.getCounter(FOUND, vertex.toString()).increment(1);
      }
      super.reduce(vertex, values, context);
    }
  }
}

package org.assay.jobs.degreeorder;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/**
 * Intersecting: what the jobs have in common that find triangles without listing open triads.
 *
 * <p>Reads the lists of {@link DirectionsJob}. A vertex u sends each neighbour v in its list the
 * part of the list that comes after v, and itself the whole. The vertices of that part which are
 * also in v's own list are the third corners of the triangles with the lowest corners u and v. The
 * shuffle carries a record per vertex and per edge that has such a part; the parts together name as
 * many vertices as there are wedges in degree order. A reducer holds the own list and one part in
 * memory.
 */
public final class Intersecting {
  private Intersecting() {}

  /** Sets up the map side and the grouping of a job that reads {@code directions}. */
  public static void configureMap(Job job, Path directions) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(SendingMapper.class);
    job.setMapOutputKeyClass(Addressed.class);
    job.setMapOutputValueClass(HeadedList.class);
    job.setGroupingComparatorClass(Addressed.ByVertex.class);
    FileInputFormat.addInputPath(job, directions);
  }

  /** Sends lists with the vertex they come from, and the whole of one with the vertex' degree. */
  static final class SendingMapper extends Mapper<VertexId, HeadedList, Addressed, HeadedList> {
    private final IdList ranked = new IdList();
    private final IdList sorted = new IdList();
    private final Addressed to = new Addressed();
    private final HeadedList sent = new HeadedList();
    private long[] ranks = new long[64];

    @Override
    protected void map(VertexId vertex, HeadedList list, Context context)
        throws IOException, InterruptedException {
      list.ids().unpack(ranked);
      sorted.copyFrom(ranked);
      sorted.sortUnique();
      rank();
      send(vertex.vertex(), true, list.head(), -1, context);
      for (int i = 0; i < ranked.size() - 1; i++) {
        send(ranked.get(i), false, vertex.vertex(), i, context);
      }
    }

    /** Finds for each of the sorted numbers its place in the order of degrees. */
    private void rank() {
      if (ranks.length < ranked.size()) {
        ranks = new long[Math.max(ranked.size(), 2 * ranks.length)];
      }
      for (int i = 0; i < ranked.size(); i++) {
        ranks[sorted.indexOf(ranked.get(i))] = i;
      }
    }

    private void send(long vertex, boolean own, long head, int after, Context context)
        throws IOException, InterruptedException {
      to.set(vertex, own);
      sent.setHead(head);
      sent.ids().clear();
      for (int i = 0; i < sorted.size(); i++) {
        if (ranks[i] > after) {
          sent.ids().add(sorted.get(i));
        }
      }
      context.write(to, sent);
    }
  }

  /**
   * Finds the triangles with a vertex as the middle corner, and counts them.
   *
   * @param <K> the key that it writes
   * @param <V> the value that it writes
   */
  public abstract static class IntersectingReducer<K, V>
      extends Reducer<Addressed, HeadedList, K, V> {
    private final IdList own = new IdList();
    private final IdList sent = new IdList();
    private final IdList places = new IdList();
    private long triangles;

    /** Begins with a vertex, of which the sorted list of the neighbours after it is given. */
    protected void begin(long vertex, long degree, IdList higher) {}

    /**
     * Takes the triangles with the same two lower corners.
     *
     * @param lowest the lowest corner
     * @param middle the middle one, which is the vertex begun with
     * @param higher its list
     * @param thirds the places in that list of the highest corners, ascending, at least one
     */
    protected void take(long lowest, long middle, IdList higher, IdList thirds, Context context)
        throws IOException, InterruptedException {}

    /** Ends with a vertex. */
    protected void end(long vertex, Context context) throws IOException, InterruptedException {}

    @Override
    protected final void reduce(Addressed key, Iterable<HeadedList> lists, Context context)
        throws IOException, InterruptedException {
      for (HeadedList list : lists) {
        // The key changes with the value: the first one says that the list is the vertex' own.
        if (key.isOwn()) {
          list.ids().unpack(own);
          begin(key.vertex(), list.head(), own);
        } else if (own.size() > 0) {
          list.ids().unpack(sent);
          intersect();
          triangles += places.size();
          if (places.size() > 0) {
            take(list.head(), key.vertex(), own, places, context);
          }
        }
      }
      end(key.vertex(), context);
    }

    private void intersect() {
      places.clear();
      int at = 0;
      for (int i = 0; i < sent.size(); i++) {
        while (at < own.size() && own.get(at) < sent.get(i)) {
          at++;
        }
        if (at == own.size()) {
          return;
        }
        if (own.get(at) == sent.get(i)) {
          places.add(at);
        }
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      context.getCounter(DegreeOrderCounter.TRIANGLES).increment(triangles);
    }
  }
}

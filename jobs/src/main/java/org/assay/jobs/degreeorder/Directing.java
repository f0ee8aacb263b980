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
 * Directing: what the jobs that follow {@link NeighboursJob} and direct the edges have in common.
 *
 * <p>Every vertex sends its degree to its neighbours. So each learns the degrees of all of them,
 * and by their number its own: one job both annotates the edges with degrees and directs them. The
 * shuffle carries two records per edge.
 */
public final class Directing {
  private Directing() {}

  /** Sets up the map side of a job that reads the lists of {@link NeighboursJob}. */
  public static void configureMap(Job job, Path lists) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(DegreeMapper.class);
    job.setMapOutputKeyClass(VertexId.class);
    job.setMapOutputValueClass(DegreedVertex.class);
    FileInputFormat.addInputPath(job, lists);
  }

  /** Sends the degree of a vertex to its neighbours, and that of one without any to itself. */
  static final class DegreeMapper extends Mapper<VertexId, PackedIds, VertexId, DegreedVertex> {
    private final IdList neighbours = new IdList();
    private final VertexId to = new VertexId();
    private final DegreedVertex from = new DegreedVertex();

    @Override
    protected void map(VertexId vertex, PackedIds list, Context context)
        throws IOException, InterruptedException {
      list.unpack(neighbours);
      from.set(vertex.vertex(), neighbours.size());
      for (int i = 0; i < neighbours.size(); i++) {
        to.set(neighbours.get(i));
        context.write(to, from);
      }
      if (neighbours.size() == 0) {
        context.write(vertex, from);
      }
    }
  }

  /**
   * Finds the neighbours that come after a vertex, and counts edges and wedges.
   *
   * @param <K> the key that it writes
   * @param <V> the value that it writes
   */
  public abstract static class DirectingReducer<K, V>
      extends Reducer<VertexId, DegreedVertex, K, V> {
    private final HigherNeighbours neighbours = new HigherNeighbours();
    private long edges;
    private long wedges;

    /**
     * Writes what is known of a vertex.
     *
     * @param higher its neighbours that come after it, ascending by degree and number; may be
     *     changed
     */
    protected abstract void write(VertexId vertex, int degree, IdList higher, Context context)
        throws IOException, InterruptedException;

    @Override
    protected final void reduce(VertexId vertex, Iterable<DegreedVertex> values, Context context)
        throws IOException, InterruptedException {
      neighbours.read(vertex, values);
      long size = neighbours.higher().size();
      edges += size;
      wedges += size * (size - 1) / 2;
      write(vertex, neighbours.degree(), neighbours.higher(), context);
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(DegreeOrderCounter.EDGES).increment(edges);
      context.getCounter(DegreeOrderCounter.WEDGES).increment(wedges);
    }
  }
}

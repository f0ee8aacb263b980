package org.assay.jobs.clustering;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.degreeorder.Intersecting;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.VertexId;

/**
 * Corners: job 3 of the clustering coefficient; see {@link Intersecting}.
 *
 * <p>Writes parts of the triangles per vertex, which are to be added up: one record per vertex with
 * its degree and the triangles in which it is the middle corner, one per edge between the two lower
 * corners of triangles, for the lowest, and one per edge between the two higher corners, for the
 * highest.
 */
final class CornersJob {
  private CornersJob() {}

  static void configure(Job job, Path directions, Path output) throws IOException {
    Intersecting.configureMap(job, directions);
    job.setReducerClass(CornerReducer.class);
    job.setOutputKeyClass(VertexId.class);
    job.setOutputValueClass(VertexCounts.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Counts the triangles at each corner. */
  static final class CornerReducer
      extends Intersecting.IntersectingReducer<VertexId, VertexCounts> {
    private final VertexId corner = new VertexId();
    private final VertexCounts counts = new VertexCounts();
    private long[] asHighest = new long[64];
    private IdList higher = new IdList();
    private long degree;
    private long asMiddle;

    @Override
    protected void begin(long vertex, long itsDegree, IdList itsHigher) {
      degree = itsDegree;
      higher = itsHigher;
      asMiddle = 0;
      if (asHighest.length < higher.size()) {
        asHighest = new long[Math.max(higher.size(), 2 * asHighest.length)];
      }
      Arrays.fill(asHighest, 0, higher.size(), 0);
    }

    @Override
    protected void take(long lowest, long middle, IdList itsHigher, IdList thirds, Context context)
        throws IOException, InterruptedException {
      for (int i = 0; i < thirds.size(); i++) {
        asHighest[(int) thirds.get(i)]++;
      }
      asMiddle += thirds.size();
      write(lowest, 0, thirds.size(), context);
    }

    @Override
    protected void end(long vertex, Context context) throws IOException, InterruptedException {
      write(vertex, degree, asMiddle, context);
      for (int i = 0; i < higher.size(); i++) {
        if (asHighest[i] > 0) {
          write(higher.get(i), 0, asHighest[i], context);
        }
      }
    }

    private void write(long vertex, long itsDegree, long triangles, Context context)
        throws IOException, InterruptedException {
      corner.set(vertex);
      counts.set(itsDegree, triangles);
      context.write(corner, counts);
    }
  }
}

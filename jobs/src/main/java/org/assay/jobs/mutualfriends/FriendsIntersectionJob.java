package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.degreeorder.Intersecting;
import org.assay.jobs.degreeorder.PackedIds;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.PackedPair;

/**
 * Intersection: job 3 of mutual friends without open triads; see {@link Intersecting}.
 *
 * <p>Writes, for each edge between the two lower corners of triangles, the edge and the highest
 * corners.
 */
final class FriendsIntersectionJob {
  private FriendsIntersectionJob() {}

  static void configure(Job job, Path directions, Path output) throws IOException {
    Intersecting.configureMap(job, directions);
    job.setReducerClass(TriangleReducer.class);
    job.setOutputKeyClass(PackedPair.class);
    job.setOutputValueClass(PackedIds.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Writes the highest corners of an edge's triangles. */
  static final class TriangleReducer
      extends Intersecting.IntersectingReducer<PackedPair, PackedIds> {
    private final PackedPair edge = new PackedPair();
    private final PackedIds packed = new PackedIds();

    @Override
    protected void take(long lowest, long middle, IdList higher, IdList thirds, Context context)
        throws IOException, InterruptedException {
      edge.setUnordered(lowest, middle);
      packed.clear();
      for (int i = 0; i < thirds.size(); i++) {
        packed.add(higher.get((int) thirds.get(i)));
      }
      context.write(edge, packed);
    }
  }
}

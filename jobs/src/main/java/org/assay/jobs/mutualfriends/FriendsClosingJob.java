package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.assay.jobs.degreeorder.DegreeOrderCounter;
import org.assay.jobs.degreeorder.HeadedList;
import org.assay.jobs.degreeorder.PackedIds;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.PackedPair;
import org.assay.jobs.graph.VertexId;

/**
 * Closing: job 3 of the tuned mutual friends, the heavy one.
 *
 * <p>Reads the lists of {@link org.assay.jobs.degreeorder.DirectionsJob}. For each vertex a the map
 * emits the pair of a and each vertex of its list with the mark of an edge, and each pair of these
 * vertices with a: one record per edge and per wedge in degree order, neither of which is ever
 * written to the file system. There is no combiner: nothing can be said of a pair before all of its
 * records are together. Writes, for each edge that closes a triad, the edge and the apexes.
 */
final class FriendsClosingJob {
  /** Stands for an edge among the apexes of a pair; vertex numbers are never negative. */
  private static final long EDGE = -1;

  private FriendsClosingJob() {}

  static void configure(Job job, Path directions, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(WedgeMapper.class);
    job.setReducerClass(ClosingReducer.class);
    job.setMapOutputKeyClass(PackedPair.class);
    job.setMapOutputValueClass(VLongWritable.class);
    job.setOutputKeyClass(PackedPair.class);
    job.setOutputValueClass(PackedIds.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileInputFormat.addInputPath(job, directions);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Emits the edges and the wedges of an apex. */
  static final class WedgeMapper extends Mapper<VertexId, HeadedList, PackedPair, VLongWritable> {
    private final IdList higher = new IdList();
    private final PackedPair pair = new PackedPair();
    private final VLongWritable apex = new VLongWritable();

    @Override
    protected void map(VertexId vertex, HeadedList list, Context context)
        throws IOException, InterruptedException {
      list.ids().unpack(higher);
      apex.set(EDGE);
      for (int i = 0; i < higher.size(); i++) {
        pair.setUnordered(vertex.vertex(), higher.get(i));
        context.write(pair, apex);
      }
      apex.set(vertex.vertex());
      for (int i = 0; i < higher.size() - 1; i++) {
        for (int j = i + 1; j < higher.size(); j++) {
          pair.setUnordered(higher.get(i), higher.get(j));
          context.write(pair, apex);
        }
      }
    }
  }

  /** Writes the apexes of a pair that is an edge. */
  static final class ClosingReducer
      extends Reducer<PackedPair, VLongWritable, PackedPair, PackedIds> {
    private final IdList apexes = new IdList();
    private final PackedIds packed = new PackedIds();
    private long triangles;

    @Override
    protected void reduce(PackedPair pair, Iterable<VLongWritable> values, Context context)
        throws IOException, InterruptedException {
      apexes.clear();
      boolean isEdge = false;
      for (VLongWritable value : values) {
        if (value.get() == EDGE) {
          isEdge = true;
        } else {
          apexes.add(value.get());
        }
      }
      if (isEdge && apexes.size() > 0) {
        apexes.sortUnique();
        packed.pack(apexes);
        context.write(pair, packed);
        triangles += apexes.size();
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(DegreeOrderCounter.TRIANGLES).increment(triangles);
    }
  }
}

package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.degreeorder.PackedIds;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.PackedPair;

/**
 * Lists of mutual friends from triangles: the last job of mutual friends in degree order.
 *
 * <p>Reads edges with the third corners of triangles, each triangle once. Each gives its three
 * edges the corner that is opposite. Writes the lines of {@link ListsJob}.
 */
final class TriangleListsJob {
  private TriangleListsJob() {}

  static void configure(Job job, Path triangles, Path output) throws IOException {
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(CornerMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(PackedPair.class);
    job.setMapOutputValueClass(VLongWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, triangles);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Sends each corner of a triangle to the opposite edge. */
  static final class CornerMapper extends Mapper<PackedPair, PackedIds, PackedPair, VLongWritable> {
    private final IdList thirds = new IdList();
    private final PackedPair edge = new PackedPair();
    private final VLongWritable friend = new VLongWritable();

    @Override
    protected void map(PackedPair pair, PackedIds list, Context context)
        throws IOException, InterruptedException {
      list.unpack(thirds);
      for (int i = 0; i < thirds.size(); i++) {
        send(pair.first(), pair.second(), thirds.get(i), context);
        send(pair.first(), thirds.get(i), pair.second(), context);
        send(pair.second(), thirds.get(i), pair.first(), context);
      }
    }

    private void send(long one, long other, long third, Context context)
        throws IOException, InterruptedException {
      edge.setUnordered(one, other);
      friend.set(third);
      context.write(edge, friend);
    }
  }

  /** Writes the mutual friends of an edge. */
  static final class ListReducer extends Reducer<PackedPair, VLongWritable, NullWritable, Text> {
    private final IdList friends = new IdList();
    private final LineBuilder line = new LineBuilder();
    private long edges;
    private long entries;

    @Override
    protected void reduce(PackedPair edge, Iterable<VLongWritable> values, Context context)
        throws IOException, InterruptedException {
      friends.clear();
      for (VLongWritable friend : values) {
        friends.add(friend.get());
      }
      friends.sortUnique();
      line.clear().put(edge.first()).put('\t').put(edge.second()).put('\t').put(friends, ' ');
      context.write(NullWritable.get(), line.text());
      edges++;
      entries += friends.size();
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(MutualFriendsCounter.EDGES_WITH_MUTUAL_FRIENDS).increment(edges);
      context.getCounter(MutualFriendsCounter.MUTUAL_FRIENDS).increment(entries);
    }
  }
}

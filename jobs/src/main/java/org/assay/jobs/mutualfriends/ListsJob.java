package org.assay.jobs.mutualfriends;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.IdScanner;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;
import org.assay.jobs.graph.VertexPair;

/**
 * Lists of mutual friends: job 3 of mutual friends.
 *
 * <p>Reads {@code smaller-larger:candidate}. Writes {@code u<TAB>v<TAB>w1 w2 ...} per edge with at
 * least one common neighbour, the neighbours in ascending order.
 */
final class ListsJob {
  private ListsJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(TripleMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setMapOutputKeyClass(VertexPair.class);
    job.setMapOutputValueClass(VertexId.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Splits a triple into the edge and the candidate. */
  static final class TripleMapper extends Mapper<LongWritable, Text, VertexPair, VertexId> {
    private final IdScanner scanner = new IdScanner("-:");
    private final VertexPair edge = new VertexPair();
    private final VertexId candidate = new VertexId();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      long smaller = next();
      long larger = next();
      edge.set(smaller, larger);
      candidate.set(next());
      context.write(edge, candidate);
    }

    private long next() throws IOException {
      scanner.hasNext();
      return scanner.next();
    }
  }

  /** Writes the mutual friends of an edge. */
  static final class ListReducer extends Reducer<VertexPair, VertexId, NullWritable, Text> {
    private final IdList friends = new IdList();
    private final LineBuilder line = new LineBuilder();
    private long edges;

    @Override
    protected void reduce(VertexPair edge, Iterable<VertexId> values, Context context)
        throws IOException, InterruptedException {
      friends.clear();
      for (VertexId friend : values) {
        friends.add(friend.vertex());
      }
      friends.sortUnique();
      line.clear().put(edge.first()).put('\t').put(edge.second()).put('\t').put(friends, ' ');
      context.write(NullWritable.get(), line.text());
      edges++;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(MutualFriendsCounter.EDGES_WITH_MUTUAL_FRIENDS).increment(edges);
    }
  }
}

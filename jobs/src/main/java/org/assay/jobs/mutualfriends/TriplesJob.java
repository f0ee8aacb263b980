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
import org.assay.jobs.graph.VertexTriple;

/**
 * Triples: job 2 of mutual friends, the heavy one.
 *
 * <p>Reads friend lists. For each friend f of a user u, and each other friend g of u, the map emits
 * the edge of u and f with the candidate g: 24 bytes and no value. A candidate that arrives exactly
 * twice is a friend of both ends. Writes {@code smaller-larger:candidate} for each of these. There
 * is no combiner: it would merge the two arrivals. The literal pseudo-code doesn't leave out g = f,
 * which adds one useless record per friend; {@link #LITERAL_LOOPS} does as it says.
 */
final class TriplesJob {
  /** Property: whether the inner loop takes the friend itself as a candidate as well. */
  static final String LITERAL_LOOPS = "assay.mutual-friends.literal-loops";

  private TriplesJob() {}

  static void configure(Job job, Path input, Path output) throws IOException {
    job.setMapperClass(CandidateMapper.class);
    job.setReducerClass(BothKnowReducer.class);
    job.setMapOutputKeyClass(VertexTriple.class);
    job.setMapOutputValueClass(NullWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Emits every friend of a user as a candidate for each edge of that user. */
  static final class CandidateMapper
      extends Mapper<LongWritable, Text, VertexTriple, NullWritable> {
    private final IdScanner scanner = new IdScanner("\t ");
    private final IdList friends = new IdList();
    private final VertexTriple triple = new VertexTriple();
    private boolean literalLoops;
    private long triples;

    @Override
    protected void setup(Context context) {
      literalLoops = context.getConfiguration().getBoolean(LITERAL_LOOPS, false);
    }

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      scanner.reset(line);
      scanner.hasNext();
      long user = scanner.next();
      friends.clear();
      while (scanner.hasNext()) {
        friends.add(scanner.next());
      }
      for (int i = 0; i < friends.size(); i++) {
        emitCandidates(user, i, context);
      }
    }

    private void emitCandidates(long user, int friendIndex, Context context)
        throws IOException, InterruptedException {
      long friend = friends.get(friendIndex);
      long smaller = Math.min(user, friend);
      long larger = Math.max(user, friend);
      for (int i = 0; i < friends.size(); i++) {
        if (i != friendIndex || literalLoops) {
          triple.set(smaller, larger, friends.get(i));
          context.write(triple, NullWritable.get());
          triples++;
        }
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(MutualFriendsCounter.TRIPLES).increment(triples);
    }
  }

  /** Passes the triples that arrived from both ends of the edge. */
  static final class BothKnowReducer
      extends Reducer<VertexTriple, NullWritable, NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();
    private long mutualFriends;

    @Override
    protected void reduce(VertexTriple triple, Iterable<NullWritable> values, Context context)
        throws IOException, InterruptedException {
      int arrivals = 0;
      for (NullWritable ignored : values) {
        arrivals++;
      }
      if (arrivals == 2) {
        line.clear().put(triple.first()).put('-').put(triple.second()).put(':');
        context.write(NullWritable.get(), line.put(triple.candidate()).text());
        mutualFriends++;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(MutualFriendsCounter.MUTUAL_FRIENDS).increment(mutualFriends);
    }
  }
}

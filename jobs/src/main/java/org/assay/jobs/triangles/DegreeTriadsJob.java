package org.assay.jobs.triangles;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.assay.jobs.degreeorder.Directing;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.LineBuilder;
import org.assay.jobs.graph.VertexId;

/**
 * Triads in degree order: job 2 of the tuned triangle counting.
 *
 * <p>Reads the lists of {@link org.assay.jobs.degreeorder.NeighboursJob}. For each vertex a it
 * writes {@code smaller<TAB>larger<TAB>0} per edge to a neighbour after a, and {@code
 * b<TAB>c<TAB>1} per pair of these neighbours, the smaller number first: the lines of {@link
 * TriadsJob}, with the lowest corner in degree order as the apex of a triad.
 */
final class DegreeTriadsJob {
  private DegreeTriadsJob() {}

  static void configure(Job job, Path lists, Path output) throws IOException {
    Directing.configureMap(job, lists);
    job.setReducerClass(TriadReducer.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, output);
  }

  /** Writes the edges and the triads of an apex. */
  static final class TriadReducer extends Directing.DirectingReducer<NullWritable, Text> {
    private final LineBuilder line = new LineBuilder();

    @Override
    protected void write(VertexId apex, int degree, IdList higher, Context context)
        throws IOException, InterruptedException {
      higher.sortUnique();
      for (int i = 0; i < higher.size(); i++) {
        long other = higher.get(i);
        line.clear().put(Math.min(apex.vertex(), other)).put('\t');
        line.put(Math.max(apex.vertex(), other)).put('\t').put('0');
        context.write(NullWritable.get(), line.text());
      }
      for (int i = 0; i < higher.size() - 1; i++) {
        int beginning = line.clear().put(higher.get(i)).put('\t').length();
        for (int j = i + 1; j < higher.size(); j++) {
          line.truncate(beginning).put(higher.get(j)).put('\t').put('1');
          context.write(NullWritable.get(), line.text());
        }
      }
    }
  }
}

package org.assay.jobs.pagerank;

import java.io.IOException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.assay.jobs.graph.VertexId;

/** Sends each edge to its source, and to its target that it exists; a vertex alone exists too. */
final class EndsMapper extends Mapper<LongWritable, Text, VertexId, Item> {
  private final DirectedEdge edge = new DirectedEdge();
  private final VertexId vertex = new VertexId();
  private final Item item = new Item();

  @Override
  protected void map(LongWritable offset, Text line, Context context)
      throws IOException, InterruptedException {
    boolean isEdge = edge.read(line);
    vertex.set(edge.source());
    if (isEdge) {
      item.setTarget(edge.target());
      context.write(vertex, item);
      vertex.set(edge.target());
    }
    item.setExists();
    context.write(vertex, item);
  }
}

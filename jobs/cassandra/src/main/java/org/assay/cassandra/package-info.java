/**
 * Tables of lines in Cassandra, by paths: {@code cassandra:/runs/input} is the table {@code
 * runs.input}. What is not Cassandra's own of this is in {@link org.assay.rows}.
 *
 * <p>Some lines of a writer that follow each other are a partition, whose key tells the writer and
 * which of its lines they are. So a writer's lines are read in their order by keys, and all of a
 * table, in no order, by ranges of tokens. {@code assay.writers} counts the lines of each writer.
 */
package org.assay.cassandra;

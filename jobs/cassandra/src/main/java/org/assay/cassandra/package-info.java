/**
 * Tables of lines in Cassandra, by paths: {@code cassandra:/runs/input} is the table {@code
 * runs.input}. What is not Cassandra's own of this is in {@link org.assay.rows}.
 *
 * <p>Each line is a partition of its own. Its key tells who has written it and as which of that
 * writer's lines; where it lies is told by the key's token, so that tables are read by ranges of
 * tokens. A table of each keyspace counts the lines of all writers.
 */
package org.assay.cassandra;

/**
 * Tables of lines in memory, by paths: {@code redis:/runs/input} is the table {@code runs.input}.
 * Servers are reached by Jedis. What is not their own of this is in {@link org.assay.rows}.
 *
 * <p>A line is the value of a key, which is the table's name and the row's key. Rows of a writer
 * are counted, so that all keys are known: a range is got by its keys, as single rows are.
 */
package org.assay.redis;

/**
 * Tables of lines in HBase, by paths: {@code hbase:/runs/input} is the table {@code runs.input}.
 *
 * <p>{@link org.assay.hbase.TableFileSystem} shows tables as directories of text files, one for
 * each region. {@link org.assay.hbase.LinesInputFormat} and {@link
 * org.assay.hbase.LinesOutputFormat} stand for Hadoop's formats of text: they read and write tables
 * where a job's path names one, and files where not. So jobs that leave their formats open name no
 * store. What is not HBase's own of this is in {@link org.assay.rows}.
 */
package org.assay.hbase;

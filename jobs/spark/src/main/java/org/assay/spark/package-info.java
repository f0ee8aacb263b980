/**
 * Workloads as applications of Spark.
 *
 * <p>{@link org.assay.spark.Main} finds a {@link org.assay.spark.Command} by its name and gives it
 * a {@link org.assay.spark.Run}: the session, the input, the output and the report.
 */
package org.assay.spark;

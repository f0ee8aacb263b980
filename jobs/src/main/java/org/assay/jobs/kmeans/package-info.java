/** Clustering of points around centres by Lloyd's iteration, one job per iteration. */
package org.assay.jobs.kmeans;

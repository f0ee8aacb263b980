/** PageRank of a directed graph by power iteration. */
package org.assay.jobs.pagerank;

/** Clustering coefficients of all vertices and of the graph, from triangles in degree order. */
package org.assay.jobs.clustering;

/** Vertices, pairs and triples of vertices as shuffle keys, and the text lines of the jobs. */
package org.assay.jobs.graph;

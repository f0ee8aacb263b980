/** Breadth-first distances: hops from given vertices, one job per hop. */
package org.assay.jobs.distances;

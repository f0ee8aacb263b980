/**
 * What the workloads on triangles share that direct each edge from its end of lower degree to the
 * one of higher degree, and of two equal degrees from the smaller number to the larger one.
 *
 * <p>In this order few edges lead away from a vertex: never more than the square root of twice the
 * number of edges. So there are few pairs of them, and each triangle appears once, at its lowest
 * corner.
 */
package org.assay.jobs.degreeorder;

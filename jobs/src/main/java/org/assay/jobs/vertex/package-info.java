/** Iterative programs on vertices: the loop of their jobs, and vertices that get messages. */
package org.assay.jobs.vertex;

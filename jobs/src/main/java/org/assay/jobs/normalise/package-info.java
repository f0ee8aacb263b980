/** Brings the text of a graph into the one form that the other jobs read. */
package org.assay.jobs.normalise;

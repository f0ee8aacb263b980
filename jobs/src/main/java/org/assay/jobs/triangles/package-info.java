/** Triangle counting: in three jobs over open triads or lists, or in one over parts in memory. */
package org.assay.jobs.triangles;

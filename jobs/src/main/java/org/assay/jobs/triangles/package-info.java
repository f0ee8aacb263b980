/** Triangle counting in three jobs. */
package org.assay.jobs.triangles;

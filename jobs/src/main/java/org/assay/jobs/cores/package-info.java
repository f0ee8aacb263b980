/** K-core decomposition by h-indices of estimates, one job per round. */
package org.assay.jobs.cores;

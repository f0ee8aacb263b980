/** Communities by propagating labels, one job per round. */
package org.assay.jobs.labels;

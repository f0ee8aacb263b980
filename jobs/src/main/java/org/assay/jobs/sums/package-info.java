/** Sums that several workloads need: of counts, and of doubles without their roundings. */
package org.assay.jobs.sums;

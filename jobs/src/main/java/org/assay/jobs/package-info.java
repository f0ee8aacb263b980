/** The network-analysis workloads of Assay as Hadoop MapReduce jobs. */
package org.assay.jobs;

/** Runs a sequence of MapReduce jobs: arguments, checks, progress, report and exit code. */
package org.assay.jobs.driver;

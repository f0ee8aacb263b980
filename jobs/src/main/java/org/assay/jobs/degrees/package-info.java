/** Degree distribution: how many vertices have each degree. */
package org.assay.jobs.degrees;

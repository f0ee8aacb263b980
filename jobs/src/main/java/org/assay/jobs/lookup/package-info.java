/** Some rows of many, looked up by their numbers. */
package org.assay.jobs.lookup;

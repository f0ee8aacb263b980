/** Connected components by passing the smallest vertex number on, one job per hop. */
package org.assay.jobs.components;

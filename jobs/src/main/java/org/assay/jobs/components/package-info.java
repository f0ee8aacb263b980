/**
 * Connected components: by passing the smallest vertex number on, one job per hop; and by stars.
 */
package org.assay.jobs.components;

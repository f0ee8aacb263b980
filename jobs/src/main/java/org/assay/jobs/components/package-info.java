/**
 * Connected components: by passing the smallest vertex number on, one job per hop; and by stars and
 * contraction in memory.
 */
package org.assay.jobs.components;

/** Lines in a total order, wherever a store keeps them. */
package org.assay.jobs.linesort;

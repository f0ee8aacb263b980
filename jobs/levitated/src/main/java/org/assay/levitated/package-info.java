/** A shuffle for MapReduce that merges map outputs as they come from the shuffle service. */
package org.assay.levitated;

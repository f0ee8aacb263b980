/**
 * A YARN application that reads the counters of a cluster's nodes for as long as its client lives:
 * a client, a master, and a sampler in a container on each node. Its files in the store lie in one
 * folder, which is removed at the end.
 */
package org.assay.sampler;

/** Adjacency lists from edges: the preparation of mutual friends and components. */
package org.assay.jobs.friendlists;

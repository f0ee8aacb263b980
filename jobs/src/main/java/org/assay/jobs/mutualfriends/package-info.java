/** The common neighbours of connected vertices, in three jobs. */
package org.assay.jobs.mutualfriends;

/**
 * Puts the intermediate data of a job into the tier of local directories that the job names.
 *
 * <p>MapReduce's jobs load {@link org.assay.direct.MapOutput} and {@link
 * org.assay.direct.ReduceShuffle} by their own configuration; containers of other engines need
 * {@link org.assay.direct.TierExecutor} in each NodeManager.
 */
package org.assay.direct;

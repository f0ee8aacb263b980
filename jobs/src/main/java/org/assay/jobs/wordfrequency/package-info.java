/** How often each word occurs in text files. */
package org.assay.jobs.wordfrequency;

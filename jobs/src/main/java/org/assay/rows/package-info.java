/**
 * Lines as rows of a store, whatever store it is: the keys of rows, the splits of a table, Hadoop's
 * formats and its file system over tables. A store's module brings what these ask of it, and
 * compiles this package into its own jar.
 */
package org.assay.rows;

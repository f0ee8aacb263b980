/**
 * Tables of lines as documents, by paths: {@code documents:/runs/input} is the table {@code
 * runs.input}. Servers are reached by MongoDB's driver. What is not their own of this is in {@link
 * org.assay.rows}.
 *
 * <p>A line is a document {@code {_id, line}}, whose {@code _id} is the row's key. FerretDB looks a
 * single {@code _id} up in its index, and reads a whole collection for a range of them. So the
 * lines of a writer that follow each other are collections of a fixed size, and a table is read
 * collection by collection.
 */
package org.assay.documents;

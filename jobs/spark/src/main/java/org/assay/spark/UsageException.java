package org.assay.spark;

/** The arguments or the input can't be used; the message says so in a sentence for the user. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}

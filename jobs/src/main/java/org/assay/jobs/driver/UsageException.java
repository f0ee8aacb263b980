package org.assay.jobs.driver;

/** What the user gave can't be run; the message says what, where, and how to mend it. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}

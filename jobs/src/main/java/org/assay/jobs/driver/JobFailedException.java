package org.assay.jobs.driver;

/** A job of the sequence failed, so there is no result; the message names the job and its end. */
public final class JobFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  public JobFailedException(String message) {
    super(message);
  }

  public JobFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}

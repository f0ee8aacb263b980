package org.assay.jobs.graph;

import java.io.IOException;

/** A line isn't of the form that a job reads; the message says what is wrong with it. */
public final class MalformedLineException extends IOException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_CHARACTERS = 80;

  public MalformedLineException(String message) {
    super(message);
  }

  /** The line in quotation marks, cut to a length that fits a message. */
  public static String quote(String line) {
    String shown =
        line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    return '"' + shown.replaceAll("\\p{Cntrl}", " ") + '"';
  }
}

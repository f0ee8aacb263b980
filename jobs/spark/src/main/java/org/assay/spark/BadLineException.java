package org.assay.spark;

/** A line isn't of the form that a command reads; the message says what is wrong with it. */
final class BadLineException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_CHARACTERS = 80;

  BadLineException(String message) {
    super(message);
  }

  /** Of a line, which is quoted, that is not of this form. */
  static BadLineException of(String line, String form) {
    String shown =
        line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    return new BadLineException('"' + shown.replaceAll("\\p{Cntrl}", " ") + "\" is not " + form);
  }
}

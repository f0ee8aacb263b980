package org.assay.jobs.lookup;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.assay.jobs.graph.MalformedLineException;

/**
 * Reads lines {@code row,group,value,...} of whole numbers, of which the first is the line's
 * number; what follows the value is anything.
 */
final class RowLine {
  private static final int MOST_DIGITS = 18;

  private Text line = new Text();
  private int at;

  /** Begins with a line, which must not change while it is read, and reads its number. */
  long row(Text given) throws MalformedLineException {
    line = given;
    at = 0;
    return next();
  }

  /** The next number of the line. */
  long next() throws MalformedLineException {
    byte[] bytes = line.getBytes();
    int start = at;
    long number = 0;
    while (at < line.getLength() && bytes[at] != ',') {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9 || at - start == MOST_DIGITS) {
        throw malformed();
      }
      number = 10 * number + digit;
      at++;
    }
    if (at == start) {
      throw malformed();
    }
    at++;
    return number;
  }

  private MalformedLineException malformed() {
    String shown = new String(line.getBytes(), 0, line.getLength(), StandardCharsets.UTF_8);
    return new MalformedLineException(
        MalformedLineException.quote(shown)
            + " does not begin with three whole numbers apart by commas: row, group and value");
  }
}

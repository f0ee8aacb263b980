package org.assay.jobs.lookup;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.assay.jobs.driver.InputRows;
import org.assay.jobs.graph.IdList;
import org.assay.jobs.graph.MalformedLineException;

/** The rows of a list, as {@link InputRows} describes it; two numbers are held for each line. */
final class AskedRows {
  private static final Pattern FORM = Pattern.compile("\\d{1,18}(-\\d{1,18})?");

  private final IdList firsts = new IdList();
  private final IdList lasts = new IdList();
  private long count;

  private AskedRows() {}

  /**
   * Reads a list.
   *
   * @throws MalformedLineException for a line of another form, a row that is asked for twice, or a
   *     list without any
   */
  static AskedRows read(Configuration conf, Path list) throws IOException {
    AskedRows asked = new AskedRows();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(list.getFileSystem(conf).open(list), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      while (line != null) {
        asked.add(line);
        line = lines.readLine();
      }
    }
    asked.sort();
    return asked;
  }

  private void add(String line) throws MalformedLineException {
    boolean wellFormed = FORM.matcher(line).matches();
    int dash = line.indexOf('-');
    long first = wellFormed ? Long.parseLong(dash < 0 ? line : line.substring(0, dash)) : 0;
    long last = wellFormed ? Long.parseLong(line.substring(dash + 1)) : -1;
    if (first > last) {
      throw new MalformedLineException(
          "line "
              + (firsts.size() + 1)
              + ", "
              + MalformedLineException.quote(line)
              + ", is neither a row's number nor a range of them such as 120-219");
    }
    firsts.add(first);
    lasts.add(last);
    count += last - first + 1;
  }

  /** Ranges that have no row in common stay together when their ends are sorted apart. */
  private void sort() throws MalformedLineException {
    firsts.sort();
    lasts.sort();
    for (int i = 1; i < firsts.size(); i++) {
      if (firsts.get(i) <= lasts.get(i - 1)) {
        throw new MalformedLineException(
            "row " + firsts.get(i) + " is asked for twice; ask for each once");
      }
    }
    if (count == 0) {
      throw new MalformedLineException("no row is asked for; give a line for each");
    }
  }

  boolean has(long row) {
    int at = firsts.indexOf(row);
    int before = at < 0 ? -at - 2 : at;
    return before >= 0 && row <= lasts.get(before);
  }

  /** How many rows there are. */
  long count() {
    return count;
  }
}

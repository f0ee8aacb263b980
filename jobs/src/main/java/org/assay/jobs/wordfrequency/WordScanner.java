package org.assay.jobs.wordfrequency;

import java.util.Arrays;
import org.apache.hadoop.io.Text;

/**
 * Finds the words of a line, without making an object per word.
 *
 * <p>A line is cut at white space: characters with Unicode's property White_Space, and U+001C to
 * U+001F. Within each piece letters (categories L), marks (M) and decimal digits (Nd) are kept; all
 * other characters are special and removed, which joins what stood around them ({@code don't} is
 * {@code dont}). What was kept becomes lower case, character by character (Unicode's simple
 * mapping). Pieces of which nothing is left are no words. Bytes that aren't valid UTF-8 are special
 * characters.
 */
public final class WordScanner {
  /** What {@link #classify} gives for white space. */
  public static final int SPACE = -1;

  /** What {@link #classify} gives for characters that are removed. */
  public static final int SPECIAL = 0;

  private static final int ASCII_CHARACTERS = 0x80;
  private static final int LONGEST_CHARACTER = 4;

  /** The kinds of characters that are kept, as bits by {@link Character#getType(int)}. */
  private static final int KEPT =
      (1 << Character.UPPERCASE_LETTER)
          | (1 << Character.LOWERCASE_LETTER)
          | (1 << Character.TITLECASE_LETTER)
          | (1 << Character.MODIFIER_LETTER)
          | (1 << Character.OTHER_LETTER)
          | (1 << Character.NON_SPACING_MARK)
          | (1 << Character.ENCLOSING_MARK)
          | (1 << Character.COMBINING_SPACING_MARK)
          | (1 << Character.DECIMAL_DIGIT_NUMBER);

  /** What {@link #classify} gives for ASCII. */
  private static final int[] ASCII = new int[ASCII_CHARACTERS];

  static {
    Arrays.setAll(ASCII, WordScanner::classify);
  }

  private final Text word = new Text();
  private byte[] kept = new byte[64];
  private int length;

  private byte[] bytes = new byte[0];
  private int end;
  private int position;

  /** The line's characters, or null if it has ASCII only and its bytes are read as they are. */
  private String characters;

  /** Starts at the beginning of a line, whose bytes must not change while it is read. */
  void reset(Text line) {
    bytes = line.getBytes();
    end = line.getLength();
    position = 0;
    characters = null;
    for (int i = 0; i < end; i++) {
      if (bytes[i] < 0) {
        characters = line.toString();
        end = characters.length();
        return;
      }
    }
  }

  /** Moves to the next word and tells whether there is one. */
  boolean next() {
    length = 0;
    while (position < end) {
      int found = nextCharacter();
      if (found == SPACE) {
        if (length > 0) {
          break;
        }
      } else if (found != SPECIAL) {
        keep(found);
      }
    }
    word.set(kept, 0, length);
    return length > 0;
  }

  /** What {@link #next} found, valid until its next call. */
  Text word() {
    return word;
  }

  private int nextCharacter() {
    if (characters == null) {
      return ASCII[bytes[position++]];
    }
    int character = characters.codePointAt(position);
    position += Character.charCount(character);
    return character < ASCII_CHARACTERS ? ASCII[character] : classify(character);
  }

  /** Space, special, or the lower case of a character that is kept. */
  public static int classify(int character) {
    if (Character.isWhitespace(character)
        || Character.isSpaceChar(character)
        || character == 0x85) {
      return SPACE;
    }
    boolean keeps = ((KEPT >> Character.getType(character)) & 1) != 0;
    return keeps ? Character.toLowerCase(character) : SPECIAL;
  }

  /** Appends a character as UTF-8. */
  private void keep(int character) {
    if (length > kept.length - LONGEST_CHARACTER) {
      kept = Arrays.copyOf(kept, 2 * kept.length);
    }
    if (character < ASCII_CHARACTERS) {
      kept[length++] = (byte) character;
    } else if (character < 0x800) {
      kept[length++] = (byte) (0xc0 | (character >> 6));
      keepTail(character);
    } else if (character < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
      kept[length++] = (byte) (0xe0 | (character >> 12));
      keepTail(character >> 6);
      keepTail(character);
    } else {
      kept[length++] = (byte) (0xf0 | (character >> 18));
      keepTail(character >> 12);
      keepTail(character >> 6);
      keepTail(character);
    }
  }

  private void keepTail(int bits) {
    kept[length++] = (byte) (0x80 | (bits & 0x3f));
  }
}

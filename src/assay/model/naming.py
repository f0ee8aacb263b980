"""Names and sizes as people read and write them."""

import difflib
import re
from collections.abc import Sequence

MOST_NAME_CHARACTERS = 150
"""Of what becomes a part of a folder's name: file systems take 255 bytes, with what stands before and after."""

# What moves the cursor, changes colours or the order of letters, or is no character: all but the end of a line.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONG_WORD = re.compile(r"\S{400,}")


MOST_MEANT = 3
LEAST_BEGINNING = 3
"""Words that a hint names, and letters of one that many others may begin with."""


def similar(word: str, candidates: Sequence[str], most: int = 1) -> list[str]:
    """The words that begin with it, else the `most` that are written much like it; none where there are none."""
    begin = [known for known in candidates if len(word) >= LEAST_BEGINNING and known.startswith(word)][:MOST_MEANT]
    return begin or difflib.get_close_matches(word, candidates, n=most, cutoff=0.6)


def did_you_mean(candidates: Sequence[str]) -> str:
    """The question by its words, at least one."""
    *others, last = map(repr, candidates)
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def nearest(word: str, candidates: Sequence[str], most: int = 1) -> str:
    """A hint for a word that isn't among some words: the similar ones, else all."""
    close = similar(word, candidates, most)
    return did_you_mean(close) if close else f"possible are {', '.join(candidates)}"


def first_few(items: Sequence[str], between: str = ", ", last: str = " and", most: int = 3) -> str:
    """The first of some words, and how many more there are: `a, b, c and 2 more`."""
    more = f"{last} {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def unprintable(text: str) -> str | None:
    """The first character that no terminal should be given, the end of a line too; None where there is none."""
    match = _CONTROL.search(text) or re.search("\n", text)
    return f"U+{ord(match[0]):04X}" if match else None


def printable(text: str) -> str:
    """The text with control characters shown instead of done; ends of lines stay."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def sentence(text: str) -> str:
    """A message in one line, fit for a terminal, with words of many hundred characters cut."""
    line = printable(text.replace("\n", "\\n"))
    return _LONG_WORD.sub(lambda match: f"{match[0][:150]}...{match[0][-50:]}", line)


_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([kmgtpe]?)(i?)(b?)\s*", re.IGNORECASE)
_PREFIXES = " kmgtpe"
MOST_BYTES = 2**63 - 1

HOW = "a size such as 4GiB (1024s) or 4GB (1000s); 4G may mean either"


def size_of(value: object) -> int | None:
    """Bytes, 0 or more; None for what is no size. The whole text must be one."""
    if isinstance(value, str):
        match = _SIZE.fullmatch(value) if len(value) < 100 else None
        if match is None or (match[3] and not match[2]) or (match[2] and not (match[3] or match[4])):
            return None  # `16G` is GiB to Java and Hadoop, and GB to others
        unit = (1024 if match[3] else 1000) ** _PREFIXES.index(match[2].lower() or " ")
        value = int(match[1]) * unit if match[1].isdecimal() else int(float(match[1]) * unit)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if 0 <= value <= MOST_BYTES else None
    return None


_LETTERED = re.compile(r"(-?[0-9]{1,19}(?:\.[0-9]+)?)([kmgtpe]?)", re.IGNORECASE)


def lettered_size(text: str) -> float | None:
    """A number with or without one of Hadoop's letters, which count in 1024s: `64m`; None for what is none."""
    match = _LETTERED.fullmatch(text)
    if match is None:
        return None
    number = float(match[1]) if "." in match[1] else int(match[1])
    unit: int = 1024 ** _PREFIXES.index(match[2].lower() or " ")
    return number * unit


def bytes_text(count: float) -> str:
    """Binary multiples with one decimal."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"

"""How often each of many texts occurs, as far as memory is meant for it."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Generic, TypeVar

from assay.model.doubt import Outcome, Verdict

Text = TypeVar("Text", str, bytes)

MOST_BYTES = 1 << 30
# What a short text, its count and their place in the dictionary take when that has just grown (CPython 3.11).
ENTRY_BYTES = 160
# There are so few texts of one or two bytes that different ones have four with their separator, on average.
_BYTES_BY_TEXT = ENTRY_BYTES // 4
# A short text's own bytes.
_SHORT_BYTES = 20


class TooManyError(Exception):
    """There are more different texts than memory is meant for."""

    def __init__(self, distinct: int, held_bytes: int) -> None:
        super().__init__(
            f"given up at {distinct} different texts, which take {held_bytes >> 20} MiB and are not all; at most "
            f"{MOST_BYTES >> 20} MiB of them can be held: take a smaller text, or one that repeats itself"
        )

    @property
    def verdict(self) -> Verdict:
        """Nothing is known of the output."""
        return Verdict(check="every count is right, and there once", outcome=Outcome.UNKNOWN, detail=str(self))


class Tally(Generic[Text]):
    """Counts texts; `counts` has those so far."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.counts: Counter[Text] = Counter()
        self._most_bytes, self._held_bytes = most_bytes, 0

    def add(self, texts: Iterable[Text]) -> None:
        """Count each. Raises TooManyError."""
        before = len(self.counts)
        self.counts.update(texts)
        fresh = len(self.counts) - before
        # A dictionary keeps the order in which texts came.
        self._held_bytes += ENTRY_BYTES * fresh + sum(map(len, islice(reversed(self.counts), fresh)))
        if self._held_bytes > self._most_bytes:
            raise TooManyError(len(self.counts), self._held_bytes)


def most_held_bytes(text_bytes: int, distinct: int | None = None) -> int:
    """What a tally of a text of this length, with so many different short texts if that is known, takes at most."""
    known = MOST_BYTES if distinct is None else (ENTRY_BYTES + _SHORT_BYTES) * distinct
    return min(MOST_BYTES, _BYTES_BY_TEXT * text_bytes, known)

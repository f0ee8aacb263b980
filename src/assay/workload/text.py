"""Text in a store: how verifiers read it, and how an output of counts is judged.

Text is UTF-8; bytes that aren't become U+FFFD, as with Hadoop's Text.
"""

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay.model.doubt import Verdict, verdict
from assay.model.errors import AssayError
from assay.model.store import Store

BUFFER_BYTES = 1 << 20


def pieces_of_text(store: Store, path: str) -> Iterator[list[bytes]]:
    """What ASCII's white space separates in all files of a directory, about a MB at a time; none goes across files."""
    for file in store.list_files(path):
        rest = b""
        for read in store.pieces(file.path) if file.bytes else ():
            block = rest + read
            pieces = block.split()
            rest = pieces.pop() if block and not block[-1:].isspace() else b""
            yield pieces
        if rest:
            yield [rest]


def lines_of_text(store: Store, path: str) -> Iterator[str]:
    """The lines of all files of a directory as TextInputFormat cuts them: at LF, CR and CR LF, without a BOM."""
    for file in store.list_files(path):
        stream = io.BufferedReader(_Stream(store.pieces(file.path) if file.bytes else iter(())), BUFFER_BYTES)
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline=None)
        yield from (line.removesuffix("\n") for line in text)


class Found(NamedTuple):
    """How an output of counts compares with what was expected, and an example of what is wrong."""

    wrong: int
    missing: int
    total: int
    example: str

    @property
    def verdict(self) -> Verdict:
        """Passes where every count is there once and right."""
        seen = f"{self.wrong} lines wrong, {self.missing} missing"
        detail = f"{seen}; the first: {self.example}" if self.example else seen
        return verdict("every count is right, and there once", passed=not (self.wrong or self.missing), detail=detail)


def compare(expected: Counter[str], counts: Iterable[tuple[str, int]]) -> Found:
    """Take what an output has, in any order, from what was expected; `expected` holds what is missing afterwards."""
    wrong = total = 0
    example = ""
    for word, count in counts:
        wanted = expected.pop(word, None)
        total += count
        if count != wanted:
            wrong += 1
            example = example or f"{word[:40]!r} has {count}, and not {'a line here' if wanted is None else wanted}"
    if expected and not example:
        word, count = next(iter(expected.items()))
        example = f"{word[:40]!r} has none, and not {count}"
    return Found(wrong=wrong, missing=len(expected), total=total, example=example)


def counted_lines(lines: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Lines of the form `word<TAB>count`. Raises AssayError for any other."""
    for line in lines:
        word, tab, count = line.rpartition(b"\t")
        if not (tab and count.isdigit()):
            raise AssayError(f"the output has a line that is not `word<TAB>count`: {line[:80]!r}")
        yield word.decode(errors="replace"), int(count)


class _Stream(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            # An empty piece is not the end.
            self._rest = memoryview(next((piece for piece in self._pieces if piece), b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

"""Text in a store: how verifiers read it, how counts are judged; and the user's files that options name.

Text is UTF-8; bytes that aren't become U+FFFD, as with Hadoop's Text.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from assay.host.files import input_files
from assay.input.files import stream_of
from assay.input.text import TextInput, UserText
from assay.model.doubt import CheckResult, Outcome, verdict
from assay.model.engine import History, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.store import Files, Store, files_of
from assay.model.trial import WorkloadSpec
from assay.workload.base import WorkloadOptions, counters_agree

PieceT = TypeVar("PieceT", str, bytes)

COUNTS = "every count is right, and there once"
MOST_BYTES = 1 << 30
# What a short text, its count and their place in the dictionary take when that has just grown (CPython 3.11).
ENTRY_BYTES = 160
# There are so few texts of one or two bytes that different ones have four with their separator, on average.
_BYTES_BY_TEXT = ENTRY_BYTES // 4
# A short text's own bytes.
_SHORT_BYTES = 20


class TooManyTextsError(Exception):
    """There are more different texts than memory is meant for."""

    def __init__(self, distinct: int, held_bytes: int) -> None:
        super().__init__(
            f"given up at {distinct} different texts, which take {held_bytes >> 20} MiB and are not all; at most "
            f"{MOST_BYTES >> 20} MiB of them can be held: take a smaller text, or one that repeats itself"
        )

    @property
    def verdict(self) -> CheckResult:
        """The verdict that nothing is known of the output."""
        return CheckResult(check=COUNTS, outcome=Outcome.UNKNOWN, detail=str(self))


class TextCounter(Generic[PieceT]):
    """Counts texts; `counts` has those so far."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.counts: Counter[PieceT] = Counter()
        self._most_bytes, self._held_bytes = most_bytes, 0

    def add(self, texts: Iterable[PieceT]) -> None:
        """Count each text. Raises TooManyTextsError."""
        before = len(self.counts)
        self.counts.update(texts)
        fresh = len(self.counts) - before
        # A dictionary keeps the order in which texts came.
        self._held_bytes += ENTRY_BYTES * fresh + sum(map(len, islice(reversed(self.counts), fresh)))
        if self._held_bytes > self._most_bytes:
            raise TooManyTextsError(len(self.counts), self._held_bytes)


def most_held_bytes(text_bytes: int, distinct: int | None = None) -> int:
    """Bound the bytes that counting takes for a text of this length, with so many different short texts if known."""
    known = MOST_BYTES if distinct is None else (ENTRY_BYTES + _SHORT_BYTES) * distinct
    return min(MOST_BYTES, _BYTES_BY_TEXT * text_bytes, known)


def pieces_of_text(store: Store, path: str) -> Iterator[list[bytes]]:
    """Split all files of a directory, or all lines, at ASCII's white space; no piece goes across files."""
    if not isinstance(store, Files):
        for line in store.lines(path):
            yield line.split()
        return
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
    """Yield the lines of all files of a directory as TextInputFormat cuts them: at LF, CR and CR LF, without a BOM."""
    files = files_of(store)
    for file in files.list_files(path):
        stream = stream_of(files.pieces(file.path) if file.bytes else iter(()))
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline=None)
        yield from (line.removesuffix("\n") for line in text)


def judge_counts(
    expected: Counter[str], counts: Iterable[tuple[str, int]], report: LaunchReport, counted_name: str, least: int = 0
) -> tuple[CheckResult, ...]:
    """Judge that an output has each expected count once, in any order, and that sum and the jobs' counters are right.

    The jobs' counters are `counted_name` and `distinct_` before that name. `expected` is used up.
    """
    total, counters = expected.total(), {counted_name: expected.total(), f"distinct_{counted_name}": len(expected)}
    wrong = added = 0
    example = ""
    for word, count in counts:
        expected_count = expected.pop(word, None)
        added += count
        if count != expected_count:
            wrong += 1
            right = "a line here" if expected_count is None else expected_count
            example = example or f"{word[:40]!r} has {count}, and not {right}"
    if expected and not example:
        word, count = next(iter(expected.items()))
        example = f"{word[:40]!r} has none, and not {count}"
    mistakes = f"{wrong} lines wrong, {len(expected)} missing"
    return (
        verdict(
            COUNTS, passed=not (wrong or expected), detail=f"{mistakes}; the first: {example}" if example else mistakes
        ),
        verdict(
            f"counts add up to the {counted_name}",
            passed=added == total >= least,
            detail=f"{added} counted, {total} {counted_name} staged",
        ),
        *counters_agree(report, counters, f"counters equal the {counted_name}"),
    )


def with_counts(report: LaunchReport, history: History, counted_name: str, text: TextInput) -> LaunchReport:
    """Add to a report what a job's tasks counted: the texts that maps emitted, and the different texts reduced."""
    counted = history.counted
    result = {
        counted_name: counted.get("emitted_records", -1),
        f"distinct_{counted_name}": counted.get("output_records", -1),
    }
    return with_settings(report.model_copy(update={"result": result}), text)


def with_settings(report: LaunchReport, text: TextInput) -> LaunchReport:
    """Add to a report's settings those with which the text was written."""
    return report.model_copy(update={"settings": {**text.properties, **report.settings}})


def counted_lines(lines: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Parse lines of the form `word<TAB>count`. Raises AssayError for any other line."""
    for line in lines:
        word, tab, count = line.rpartition(b"\t")
        if not (tab and count.isdigit()):
            raise AssayError(f"the output has a line that is not `word<TAB>count`: {line[:80]!r}")
        yield word.decode(errors="replace"), int(count)


OWN_FILES = (
    "your own text files instead: the plain UTF-8 files in and below this directory whose names begin with neither `.` "
    "nor `_`"
)
# Hadoop unpacks files with such names; the verification reads what lies there.
_PACKED = re.compile(r"\.(gz|bz2|zst|deflate|lz4|snappy|zip|xz)$", re.IGNORECASE)


def user_text(options: WorkloadOptions, spec: WorkloadSpec, *, strict: bool) -> UserText | None:
    """Find the files in and below the option `directory` that are not hidden; None without the option.

    Raises BadInputError when there is no such directory, nothing usable in it, or options that make text.
    """
    if not options.text("directory"):
        return None
    surplus = next((name for name in ("size", "files", "seed") if name in spec.options), None)
    if surplus:
        raise BadInputError(f"workload {spec.name}: {surplus} has no effect with directory; leave one of them out")
    directory = Path(options.text("directory")).expanduser()
    if not directory.is_absolute():
        raise options.refusal("directory", "an absolute path, or one that begins with ~")
    if not directory.is_dir():
        raise options.refusal("directory", "a directory that exists")
    files = input_files(directory)
    packed = next((file.name for file in files if _PACKED.search(file.name)), None)
    if packed:
        raise options.refusal("directory", f"one of plain text files; unpack {packed} first")
    if not any(file.stat().st_size for file in files):
        raise options.refusal("directory", "one with text files in it; this one has none, or empty ones only")
    return UserText(files, strict=strict)

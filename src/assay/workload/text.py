"""Text in a store: where it comes from, how verifiers read it, and how counts are judged.

Text is UTF-8; bytes that aren't become U+FFFD, as with Hadoop's Text.
"""

import codecs
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from assay.model.doubt import Outcome, Verdict, verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import WorkloadSpec
from assay.workload.base import Options, example

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


_PREFIX = "mapreduce.randomtextwriter"
_TEXT_FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
# Hadoop unpacks files with such names; the verification reads what lies there.
_PACKED = re.compile(r"\.(gz|bz2|zst|deflate|lz4|snappy|zip|xz)$", re.IGNORECASE)
_BLOCK_BYTES = 1 << 22


class RandomText:
    """Lines of words drawn evenly from a list of 1000, one file per map task; by the options `size` and `files`.

    Without a bound RandomTextWriter writes 10 GB per node: both its bounds are always set.
    """

    def __init__(self, options: Options) -> None:
        """Raises BadInputError for an impossible size or number."""
        files = options.count("files")
        self._file_bytes = options.size_bytes("size") // files
        if not self._file_bytes:
            raise options.refusal("files", "at most the bytes of size")
        self.bytes = files * self._file_bytes

    @property
    def properties(self) -> dict[str, str]:
        """RandomTextWriter's own, and that files aren't packed."""
        return {
            f"{_PREFIX}.totalbytes": str(self.bytes),
            f"{_PREFIX}.bytespermap": str(self._file_bytes),
            "mapreduce.output.fileoutputformat.compress": "false",
        }

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """One job; a line is 5 to 9 words, a tab, and 10 to 99 words."""
        program = example("RandomTextWriter", ("-outFormat", _TEXT_FORMAT, path), self.properties, "generate")
        return engine.run_program(program, progress)


class OwnText:
    """The files directly in a directory that are not hidden; by the option `directory`."""

    properties: Mapping[str, str] = {}
    # How many different ones white space separates isn't known.
    pieces: int | None = None

    def __init__(self, options: Options, spec: WorkloadSpec, *, strict: bool) -> None:
        """Raises BadInputError when there is no such directory, nothing usable in it, or options that make text.

        `strict` refuses, when the files are staged, bytes that are not UTF-8.
        """
        surplus = next((name for name in ("size", "files", "seed") if name in spec.options), None)
        if surplus:
            raise BadInputError(f"workload {spec.name}: {surplus} has no effect with directory; leave one of them out")
        directory = Path(options.text("directory")).expanduser()
        if not directory.is_absolute():
            raise options.refusal("directory", "an absolute path, or one that begins with ~")
        if not directory.is_dir():
            raise options.refusal("directory", "a directory that exists")
        self._strict = strict
        self._files = [file for file in sorted(directory.iterdir()) if file.is_file() and file.name[0] not in "._"]
        packed = next((file.name for file in self._files if _PACKED.search(file.name)), None)
        if packed:
            raise options.refusal("directory", f"one of plain text files; unpack {packed} first")
        self.bytes = sum(file.stat().st_size for file in self._files)
        if not self.bytes:
            raise options.refusal("directory", "one with text files in it; this one has none, or empty ones only")

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the files under names of our own, in the order of theirs: HDFS takes fewer characters than others."""
        for at, file in enumerate(self._files):
            progress.detail(f"{file.name} ({at + 1} of {len(self._files)})")
            if self._strict:
                _require_utf8(file)
            store.put(file, f"{path}/text-{at:05d}")
        return LaunchReport(jobs=(), result={})


def _require_utf8(file: Path) -> None:
    decoder, read = codecs.getincrementaldecoder("utf-8")(), 0
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK_BYTES):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                at = read - pending + error.start
                raise BadInputError(
                    f"{file} is not UTF-8 text at byte {at}; recode it, for example with iconv"
                ) from None
            read += len(block)
    if decoder.getstate()[0]:
        raise BadInputError(f"{file} ends within a character of UTF-8; recode it, for example with iconv")

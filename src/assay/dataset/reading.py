"""Reading a graph file as a stream of blocks, whatever its size, into a simple graph and its counts."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from assay.dataset.canonical import Collector, Simple, unpack
from assay.dataset.compression import uncompressed
from assay.dataset.facts import node_count
from assay.dataset.formats import Layout, shorten
from assay.dataset.parsing import BadLineError, Block, parse
from assay.dataset.suspicion import Rest, suspicion
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.progress import Progress, Silent

BLOCK_BYTES = 1 << 23
MOST_LINE_BYTES = 1 << 23


class ReadCounts(Frozen):
    """What was in the file: all `lines`, of them `header`, `comments`, `blank`, `lone` and `edge_lines`.

    Of the edge lines `self_loops` and `duplicates` (in either direction) were dropped.
    """

    lines: int
    header: int = 0
    comments: int = 0
    blank: int = 0
    lone: int = 0
    edge_lines: int = 0
    self_loops: int = 0
    duplicates: int = 0


class Reading(NamedTuple):
    """A file that was read: the simple graph, and what it was made of."""

    simple: Simple
    counts: ReadCounts


def read(path: Path, layout: Layout, progress: Progress | None = None) -> Reading:
    """Reads a whole file, with memory of about 8 to 16 bytes an edge line.

    Raises:
        BadInputError: a line can't be used, the first line may be a header, or data are missing.
    """
    reader = _Reader(path, layout, progress or Silent())
    with uncompressed(path) as stream:
        try:
            for block in _blocks(stream, layout.skip_bytes):
                reader.take(block)
        except _LongLineError:
            raise BadInputError(
                f"{path}, line {reader.line}: is longer than {MOST_LINE_BYTES >> 20} MiB; name a file of edges, one "
                "`u v` per line."
            ) from None
    return reader.finish()


class _LongLineError(Exception):
    """A line that is no edge, whatever its end may hold."""


class _Reader:
    """The sums over the blocks of one file."""

    def __init__(self, path: Path, layout: Layout, progress: Progress) -> None:
        self._path, self._layout, self._progress = path, layout, progress
        self._collector = Collector()
        self._line = layout.skip_lines + 1
        self._comments = self._blank = self._lone = self._edge_lines = 0
        self._largest = 0  # of all edges but the first

    @property
    def line(self) -> int:
        """The number of the next line, from 1."""
        return self._line

    def take(self, text: bytes) -> None:
        try:
            block = parse(text, self._layout)
        except BadLineError as error:
            line = text.split(b"\n", error.index + 1)[error.index]
            raise BadInputError(
                f"{self._path}, line {self._line + error.index}: `{shorten(line)}` {error.what}; {error.cure}."
            ) from None
        self._count(block)
        self._collector.add_lone(block.lone)
        if block.pairs.size:
            self._collector.add(block.pairs)
        self._progress.detail(f"read {self._edge_lines:,} edge lines")

    def _count(self, block: Block) -> None:
        others = block.pairs[0 if self._edge_lines else 1 :]
        self._largest = max(self._largest, int(others.max(initial=0)))
        self._line += block.lines
        self._comments += block.comments
        self._blank += block.blank
        self._lone += block.lone.size
        self._edge_lines += block.pairs.shape[0]

    def finish(self) -> Reading:
        simple = self._collector.finish()
        layout = self._layout
        if not self._edge_lines and not self._lone:
            raise BadInputError(f"{self._path}: holds no edge; check the dataset's `file` and `header_lines`.")
        if layout.promised is not None and layout.promised != self._edge_lines:
            raise BadInputError(
                f"{self._path}, line {layout.skip_lines}: promises {layout.promised:,} entries, but "
                f"{self._edge_lines:,} follow; the file is cut off or was edited: fetch it again."
            )
        problem = suspicion(layout, self._rest(simple)) if layout.single or layout.suspect else None
        if problem:
            raise BadInputError(f"{self._path}, {problem}")
        counts = ReadCounts(
            lines=self._line - 1,
            header=layout.skip_lines,
            comments=self._comments,
            blank=self._blank,
            lone=self._lone,
            edge_lines=self._edge_lines,
            self_loops=simple.loops,
            duplicates=simple.duplicates,
        )
        return Reading(simple, counts)

    def _rest(self, simple: Simple) -> Rest:
        """The file without its first edge, if that is suspected."""
        nodes = node_count(simple)
        if not self._layout.suspect:
            return Rest(self._edge_lines, simple.keys.size, nodes, self._largest)
        ends = self._layout.suspect.numbers
        only_here = sum(1 for end in set(ends) if _degree(simple, end) <= 1)
        return Rest(self._edge_lines - 1, simple.keys.size - (ends[0] != ends[1]), nodes - only_here, self._largest)


def _degree(simple: Simple, identity: int) -> int:
    number = identity
    if simple.table is not None:
        number = int(np.searchsorted(simple.table, identity))
    low, high = unpack(simple.keys)
    return int((low == number).sum() + (high == number).sum())


def _blocks(stream: BinaryIO, skip_bytes: int) -> Iterator[bytes]:
    """The rest of a stream behind its first bytes, cut at line ends; each block ends with a newline."""
    while skip_bytes:
        skip_bytes -= len(stream.read(min(skip_bytes, BLOCK_BYTES)))
    kept = b""
    while chunk := stream.read(BLOCK_BYTES):
        text = kept + chunk
        end = text.rfind(b"\n") + 1
        kept = text[end:]
        if end:
            yield text[:end]
        if len(kept) > MOST_LINE_BYTES:
            raise _LongLineError
    if kept:
        yield kept + b"\n"

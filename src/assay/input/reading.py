"""Reading graphs from text, and keeping what was read.

Every byte is classed as a digit, a separator or something else; tokens and lines are then array operations. A block
takes the same path whatever its quirks: comments, blank lines, carriage returns, commas, tabs, many spaces. A line that
can't be an edge is found by its place in the block, so that its number can be told.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from assay.input.formats import Layout, Rest, shorten, suspicion, uncompressed
from assay.input.graph import Collector, Keys, Simple, node_count, unpack
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.input import GraphFacts
from assay.model.progress import Progress, Silent

Indices = NDArray[np.int64]
Ids = NDArray[np.uint64]

MAX_ID = 2**63 - 1
_DIGIT, _OTHER = 1, 2
_CLASS = np.full(256, _OTHER, dtype=np.uint8)
_CLASS[[ord(character) for character in " \t\r\n,;"]] = 0
_CLASS[ord("0") : ord("9") + 1] = _DIGIT
_POWERS = np.array([10**exponent for exponent in range(20)], dtype=np.uint64)


class Block(NamedTuple):
    """What a block of lines holds: `pairs` of shape (k, 2) in the order of the file, lone ids, and line counts."""

    pairs: Ids
    lone: Ids
    lines: int
    comments: int
    blank: int


class BadLineError(Exception):
    """A line that can't be used: its index in the block (from 0), what is wrong, and the cure."""

    def __init__(self, index: int, what: str, cure: str) -> None:
        super().__init__(what)
        self.index, self.what, self.cure = index, what, cure


class _Tokens(NamedTuple):
    bytes: NDArray[np.uint8]
    classes: NDArray[np.uint8]
    starts: Indices
    ends: Indices
    first: Indices  # of each line: the index of its first token
    filling: Indices  # of each line: how many tokens it has


def parse(block: bytes, layout: Layout) -> Block:
    """The numbers in a block that ends with a newline.

    Raises BadLineError for the first line that is neither an edge, a comment, blank, nor a lone vertex where allowed.
    """
    if block.count(b"\r") != block.count(b"\r\n"):
        _refuse_bare_return(block)
    tokens = _tokenise(block)
    comment = _comments(block, tokens)
    blank = tokens.filling == 0
    data = ~(comment | blank)
    _check_counts(tokens, data, layout)
    if b",," in block or b";;" in block:
        for index, line in enumerate(block.split(b"\n")[:-1]):
            if data[index] and (b",," in line or b";;" in line):
                raise BadLineError(index, "has an empty column", "give both ends of the edge, or remove the line")
    edges = data & (tokens.filling > 1)
    lone = data & (tokens.filling == 1)
    left = tokens.first[edges]
    pairs = np.empty((left.size, 2), dtype=np.uint64)
    pairs[:, 0] = _numbers(tokens, left, edges)
    pairs[:, 1] = _numbers(tokens, left + 1, edges)
    if layout.size is not None:
        _refuse(
            np.any((pairs < 1) | (pairs > layout.size), axis=1),
            edges,
            f"has an index outside 1 to {layout.size:,}, the matrix's size",
            "the file was edited or is damaged: fetch it again",
        )
    return Block(pairs, _numbers(tokens, tokens.first[lone], lone), data.size, int(comment.sum()), int(blank.sum()))


def _tokenise(block: bytes) -> _Tokens:
    raw = np.frombuffer(block, dtype=np.uint8)
    classes = _CLASS[raw]
    inside = classes != 0
    turns = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if inside[0]:
        turns = np.concatenate((np.zeros(1, dtype=turns.dtype), turns))
    starts, ends = turns[0::2], turns[1::2]
    before = np.searchsorted(starts, np.flatnonzero(raw == ord("\n")))
    count = np.diff(before, prepend=0)
    return _Tokens(raw, classes, starts, ends, before - count, count)


def _comments(block: bytes, tokens: _Tokens) -> NDArray[np.bool_]:
    comment = np.zeros(tokens.filling.size, dtype=np.bool_)
    if b"#" in block or b"%" in block:
        filled = tokens.filling > 0
        opening = tokens.bytes[tokens.starts[tokens.first[filled]]]
        comment[filled] = (opening == ord("#")) | (opening == ord("%"))
    return comment


def _check_counts(tokens: _Tokens, data: NDArray[np.bool_], layout: Layout) -> None:
    columns = tokens.filling[data]
    if not layout.extra_columns:
        _refuse(
            columns > 2,
            data,
            "has more than two columns",
            "if the others are weights or times, cut those columns off, or name the columns in a first line of a CSV "
            "file; else remove them",
        )
    if not layout.lone_lines:
        _refuse(
            columns == 1,
            data,
            "holds one column where an edge `u v` is expected",
            "say `format: edges` if such a line is a vertex without an edge, or `header_lines: N` if it belongs to the "
            "header; else fetch the file again",
        )


def _refuse_bare_return(block: bytes) -> None:
    """Hadoop takes a carriage return alone as the end of a line, which other programs don't: such lines are refused."""
    for index, line in enumerate(block.split(b"\n")):
        if b"\r" in line[:-1]:
            raise BadLineError(index, "has a carriage return inside", "give every line its own end, LF or CR LF")


def _numbers(tokens: _Tokens, which: Indices, of_line: NDArray[np.bool_]) -> Ids:
    """The values of chosen tokens, one on each line of `of_line`."""
    starts, ends = tokens.starts[which], tokens.ends[which]
    size = ends - starts
    longest = int(size.max(initial=0))
    _refuse(
        _unreadable(tokens, starts, ends),
        of_line,
        "isn't an edge of two whole numbers",
        "ids are 0 to 2^63-1; if the line is a header say `header_lines: N`, if it is a comment begin it with #",
    )
    _refuse(size > 19, of_line, "has an id beyond 2^63-1", "renumber the vertices")
    values = np.zeros(which.size, dtype=np.uint64)
    for place in range(min(longest, 19)):
        digit = tokens.bytes[np.maximum(ends - 1 - place, 0)] - np.uint8(ord("0"))
        values += np.where(size > place, digit, 0).astype(np.uint64) * _POWERS[place]
    _refuse(values > MAX_ID, of_line, "has an id beyond 2^63-1", "renumber the vertices")
    return values


def _unreadable(tokens: _Tokens, starts: Indices, ends: Indices) -> NDArray[np.bool_]:
    strange = tokens.classes == _OTHER
    if not strange.any():
        return np.zeros(starts.size, dtype=np.bool_)
    upto = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(strange, dtype=np.int32)))
    return np.asarray(upto[ends] > upto[starts])


def _refuse(bad: NDArray[np.bool_], of_line: NDArray[np.bool_], what: str, cure: str) -> None:
    if bad.any():
        raise BadLineError(int(np.flatnonzero(of_line)[np.argmax(bad)]), what, cure)


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

    Raises BadInputError for a line that can't be used, a first line that may be a header, and missing data.
    """
    progress = progress or Silent()
    collector, counts = Collector(), Counter[str](lines=layout.skip_lines, header=layout.skip_lines)
    largest = 0  # of all edges but the first
    for block in _parsed(path, layout):
        others = block.pairs[0 if counts["edge_lines"] else 1 :]
        largest = max(largest, int(others.max(initial=0)))
        counts.update(
            lines=block.lines, comments=block.comments, blank=block.blank, lone=block.lone.size,
            edge_lines=len(block.pairs),
        )  # fmt: skip
        collector.add_lone(block.lone)
        if block.pairs.size:
            collector.add(block.pairs)
        progress.detail(f"read {counts['edge_lines']:,} edge lines")
    simple, edge_lines = collector.finish(), counts["edge_lines"]
    if not edge_lines and not counts["lone"]:
        raise BadInputError(f"{path}: holds no edge; check the dataset's `file` and `header_lines`.")
    if layout.promised is not None and layout.promised != edge_lines:
        raise BadInputError(
            f"{path}, line {layout.skip_lines}: promises {layout.promised:,} entries, but {edge_lines:,} follow; the "
            "file is cut off or was edited: fetch it again."
        )
    if layout.single or layout.suspect:
        problem = suspicion(layout, _rest(simple, layout, edge_lines, largest))
        if problem:
            raise BadInputError(f"{path}, {problem}")
    return Reading(simple, ReadCounts(**counts, self_loops=simple.loops, duplicates=simple.duplicates))


def _parsed(path: Path, layout: Layout) -> Iterator[Block]:
    """The file's blocks. Raises BadInputError for the first line that can't be used."""
    line = layout.skip_lines + 1
    with uncompressed(path) as stream:
        for text in _blocks(stream, layout.skip_bytes):
            if not text.endswith(b"\n"):
                raise BadInputError(
                    f"{path}, line {line}: is longer than {MOST_LINE_BYTES >> 20} MiB; name a file of edges, one "
                    "`u v` per line."
                )
            try:
                block = parse(text, layout)
            except BadLineError as error:
                bad = text.split(b"\n", error.index + 1)[error.index]
                raise BadInputError(
                    f"{path}, line {line + error.index}: `{shorten(bad)}` {error.what}; {error.cure}."
                ) from None
            yield block
            line += block.lines


def _rest(simple: Simple, layout: Layout, edge_lines: int, largest: int) -> Rest:
    """The file without its first edge, if that is suspected."""
    nodes = node_count(simple)
    if not layout.suspect:
        return Rest(edge_lines, simple.keys.size, nodes, largest)
    ends = layout.suspect.numbers
    only_here = sum(1 for end in set(ends) if _degree(simple, end) <= 1)
    return Rest(edge_lines - 1, simple.keys.size - (ends[0] != ends[1]), nodes - only_here, largest)


def _degree(simple: Simple, identity: int) -> int:
    number = identity
    if simple.table is not None:
        number = int(np.searchsorted(simple.table, identity))
    low, high = unpack(simple.keys)
    return int((low == number).sum() + (high == number).sum())


def _blocks(stream: BinaryIO, skip_bytes: int) -> Iterator[bytes]:
    """The rest of a stream behind its first bytes, cut at line ends; a block without a newline is too long a line."""
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
            yield kept
    if kept:
        yield kept + b"\n"


_CHUNK = 1 << 20


def write_canonical(keys: Keys, path: Path) -> None:
    """Writes packed, sorted, distinct edges; ids are below 2^32. About 3 million lines a second."""
    write_edges((unpack(keys[start : start + _CHUNK]) for start in range(0, keys.size, _CHUNK)), path)


def write_edges(chunks: Iterable[tuple[NDArray[Any], NDArray[Any]]], file: Path, lone: Sequence[int] = ()) -> None:
    """A line for each edge, whose ends come some at a time (shapes (m,)), then one for each lone vertex."""
    schema = pa.schema([("first", pa.uint64()), ("second", pa.uint64())])
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with csv.CSVWriter(str(file), schema, write_options=options) as writer:
        for ends in chunks:
            for start in range(0, len(ends[0]), _CHUNK):
                columns = [pa.array(end[start : start + _CHUNK].astype(np.uint64, copy=False)) for end in ends]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    with file.open("ab") as out:
        out.write("".join(f"{vertex}\n" for vertex in lone).encode())


class Known(Frozen):
    """What is known of a content, by its checksum: the graph's counts, and what the file was made of."""

    sha256: str
    facts: GraphFacts
    counts: ReadCounts


def checksum(path: Path) -> str:
    """SHA-256 of the file as it is on disk, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` by one rename if the block ends well, and goes away otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def save(path: Path, known: Known) -> None:
    """Writes `known` as JSON, whole or not at all."""
    with whole(path) as partial:
        partial.write_text(known.model_dump_json(indent=1) + "\n")


def load(path: Path, sha256: str | None = None) -> Known | None:
    """What was saved; None if nothing was, or for another content than `sha256`, or by another version of Assay."""
    try:
        known = Known.model_validate_json(path.read_text())
    except (OSError, ValueError):
        return None
    whole_facts = known.facts.wedges_by_degree is not None
    return known if whole_facts and sha256 in (None, known.sha256) else None

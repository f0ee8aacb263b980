"""Reads graphs from text, and stores what is known of a file.

Tokens and lines of a block are found by array operations, whatever its quirks: comments, blank lines, carriage returns,
commas, tabs, many spaces. Only a block in which something is wrong is looked at line by line.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from assay.host.files import replace_text
from assay.input.columns import MOST_DIGITS, EdgeColumns, is_id, shorten
from assay.input.formats import FileLayout, Rest, suspicion, uncompressed
from assay.input.graph import Collector, Keys, Simple, node_count, unpack
from assay.model.base import Frozen
from assay.model.dataset import GraphFacts
from assay.model.errors import BadInputError
from assay.model.progress import Progress, Silent

Indices = NDArray[np.int64]
Ids = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

MAX_ID = 2**63 - 1
# An empty column before or between others; at a line's end it does no harm.
_EMPTY = re.compile(rb"(?:^[ \t]*[,;]|[,;][ \t]*[,;])[ \t,;]*[^ \t,;\r\n]", re.MULTILINE)
_COMMENTS = np.frombuffer(b"#%", dtype=np.uint8)
_QUOTES = np.frombuffer(b"\"'", dtype=np.uint8)
_POWERS = np.array([10**exponent for exponent in range(MOST_DIGITS)], dtype=np.uint64)


class Block(NamedTuple):
    """The content of a block of lines: `pairs` of shape (k, 2) in the file's order, lone ids, and line counts."""

    pairs: Ids
    lone: Ids
    lines: int
    comments: int
    blank: int


class BadLineError(Exception):
    """A line that can't be used: its index in the block (from 0), what is wrong, and the cure."""

    def __init__(self, index: int, mistake: str, cure: str) -> None:
        super().__init__(mistake)
        self.index, self.mistake, self.cure = index, mistake, cure


def parse(block: bytes, layout: FileLayout, *, first: bool = False) -> Block:
    """Parse a block that ends with a newline; `first` says that no edge was read before it.

    Raises BadLineError for the first line that is neither an edge, a comment, blank, nor a lone vertex where allowed.
    """
    columns = layout.columns
    raw = np.frombuffer(block, dtype=np.uint8)
    turns = np.flatnonzero(np.diff(_inside(columns)[raw], prepend=False))
    starts, ends = turns[0::2], turns[1::2]
    # Of each line: how many tokens it has, and the index of its first.
    newlines = np.flatnonzero(raw == ord("\n"))
    upto = np.searchsorted(starts, newlines)
    count = np.diff(upto, prepend=0)
    token = upto - count
    blank, comment = count == 0, count > 0
    comment[comment] = np.isin(raw[starts[token[comment]]], _COMMENTS)
    data = ~(comment | blank)
    single = count == 1
    if columns.separator:
        count, places, sound = _cells(raw, newlines, starts, data, columns)
    else:
        places, sound = np.stack([token + end for end in columns.ends]), True
    edge = data & (count > max(columns.ends))
    lone = data & single & (count == 1)
    chosen = np.concatenate((*places[:, edge], token[lone]))
    if sound:
        begins, stops = starts[chosen], ends[chosen]
        if columns.quoted:
            begins, stops = begins + np.isin(raw[begins], _QUOTES), stops - np.isin(raw[stops - 1], _QUOTES)
        numbers, sound = _numbers(raw, begins, stops)
        pairs = numbers[: 2 * int(edge.sum())].reshape(2, -1).T
    if (
        not sound
        or (count[data & ~lone] < columns.least).any()
        or (columns.most is not None and (count[data] > columns.most).any())
        or (not layout.lone_lines and lone.any())
        or (layout.size is not None and ((pairs < 1) | (pairs > layout.size)).any())
        or block.count(b"\r") != block.count(b"\r\n")
        or (not columns.separator and _EMPTY.search(block))
    ):
        pairs, numbers = _line_by_line(block, layout, first=first)
    return Block(pairs, numbers[pairs.size :], data.size, int(comment.sum()), int(blank.sum()))


def _line_by_line(block: bytes, layout: FileLayout, *, first: bool) -> tuple[Ids, Ids]:
    """Parse the edges, and count edges and lone vertices. Raises BadLineError."""
    edges: list[tuple[int, ...]] = []
    lone: list[int] = []
    for index, line in enumerate(block.split(b"\n")[:-1]):
        vertices = _vertices(index, line, layout, may_be_header=first and not edges)
        if len(vertices) > 1:
            edges.append(vertices)
        else:
            lone.extend(vertices)
    pairs = np.array(edges, dtype=np.uint64).reshape(-1, 2)
    return pairs, np.concatenate([pairs.T.ravel(), np.array(lone, dtype=np.uint64)])


def _inside(columns: EdgeColumns) -> NDArray[np.bool_]:
    """Tell for each byte whether it belongs to a token."""
    inside = np.ones(256, dtype=np.bool_)
    outside = " \t\r\n" + (columns.separator + "\"'" * columns.quoted if columns.separator else ",;")
    inside[[ord(character) for character in outside]] = False
    return inside


def _cells(
    raw: Bytes, newlines: Indices, starts: Indices, data: NDArray[np.bool_], columns: EdgeColumns
) -> tuple[Indices, Indices, bool]:
    """Return for each line the number of columns and the tokens that are the ends (shape (2, n)).

    Sound if each edge has one token at either end, and no quotation goes on beyond its line.
    """
    marks = raw == ord(columns.separator)
    begins = np.concatenate(([0], newlines[:-1] + 1))
    sound = True
    quotes = np.flatnonzero(raw == ord('"'))
    if quotes.size:
        before = np.searchsorted(quotes, newlines)
        sound = not (np.diff(before, prepend=0)[data] & 1).any()
        places = np.flatnonzero(marks)
        # Beside lines of an odd number, which comments may have, only quotes of the same line count.
        line = np.searchsorted(newlines, places)
        inside = (np.searchsorted(quotes, places) - np.searchsorted(quotes, begins[line])) & 1
        marks[places[inside == 1]] = False
    separators = np.append(np.flatnonzero(marks), raw.size)
    before, upto = np.searchsorted(separators, begins), np.searchsorted(separators, newlines)
    count = upto - before + 1
    tokens = np.append(starts, [raw.size, raw.size])
    chosen = []
    for end in columns.ends:
        there = data & (count > end)
        begin = separators[np.minimum(before + end - 1, separators.size - 1)] + 1 if end else begins
        stop = np.minimum(separators[np.minimum(before + end, separators.size - 1)], newlines)
        token_index = np.minimum(np.searchsorted(tokens, begin), starts.size)
        sound &= bool(
            ((tokens[token_index] < stop) & (tokens[token_index + 1] >= stop))[
                there & (count > max(columns.ends))
            ].all()
        )
        chosen.append(token_index)
    return count, np.stack(chosen), sound


def _numbers(raw: NDArray[np.uint8], starts: Indices, ends: Indices) -> tuple[Ids, bool]:
    """Return the values of tokens, and whether all are ids."""
    size = ends - starts
    numbers = np.zeros(size.size, dtype=np.uint64)
    right = int(size.max(initial=0)) <= MOST_DIGITS and int(size.min(initial=1)) > 0
    for position in range(min(int(size.max(initial=0)), MOST_DIGITS)):
        digit = np.where(size > position, raw[np.maximum(ends - 1 - position, 0)] - np.uint8(ord("0")), 0)
        right &= int(digit.max()) <= 9
        numbers += digit.astype(np.uint64) * _POWERS[position]
    return numbers, right and int(numbers.max(initial=0)) <= MAX_ID


def _vertices(index: int, line: bytes, layout: FileLayout, *, may_be_header: bool) -> tuple[int, ...]:
    """Return the two ends of a line's edge, a lone vertex, or nothing. Raises BadLineError for an unusable line."""
    columns = layout.columns
    # Hadoop takes a carriage return alone as the end of a line, which other programs don't.
    if b"\r" in line[:-1]:
        raise BadLineError(index, "has a carriage return inside", "give every line its own end, LF or CR LF")
    cells = columns.cells(line)
    if not any(cells) or line.lstrip()[:1] in (b"#", b"%"):
        return ()
    header = "; say `header_lines: N` if it belongs to the header" if may_be_header else ""
    if columns.separator and line.count(b'"') % 2:
        raise BadLineError(index, "has a quotation that doesn't end", "remove line ends and single quotes from texts")
    if not columns.separator and _EMPTY.search(line + b"\n"):
        raise BadLineError(index, "has an empty column", "give both ends of the edge, or remove the line")
    if columns.most is not None and any(cells[columns.most :]):
        raise BadLineError(
            index,
            f"has {len(cells)} columns where {columns.most} are expected",
            f"correct it, or put texts with a separator into double quotes{header}",
        )
    lone = layout.lone_lines and len(cells) == 1
    if len(cells) < columns.least and not lone:
        raise BadLineError(
            index,
            f"has {_columns(len(cells))} where an edge has {columns.least}",
            (
                "say `format: edges` if a line with one number is a vertex without an edge"
                if len(cells) == 1 and is_id(cells[0])
                else "separate the two ends by blanks, a tab, comma, semicolon or |, or correct the line"
            )
            + header,
        )
    ends = cells if lone else [cells[end] for end in columns.ends]
    if not all(ends):
        raise BadLineError(index, "has an empty column", "give both ends of the edge, or remove the line")
    if not all(end.isdigit() for end in ends):
        raise BadLineError(
            index,
            "isn't an edge of two whole numbers",
            f"number the vertices from 0 to 2^63-1, or begin a comment with #{header}",
        )
    if any(len(end) > MOST_DIGITS or int(end) > MAX_ID for end in ends):
        raise BadLineError(index, "has an id beyond 2^63-1", "renumber the vertices")
    if layout.size is not None and not all(1 <= int(end) <= layout.size for end in ends):
        raise BadLineError(
            index,
            f"has an index outside 1 to {layout.size:,}, the matrix's size",
            "the file was edited or is damaged: fetch it again",
        )
    return tuple(map(int, ends))


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


BLOCK_BYTES = 1 << 23
MOST_LINE_BYTES = 1 << 23


class ReadCounts(Frozen):
    """Counts of a file: all `lines`, of them `header`, `comments`, `blank`, `lone` and `edge_lines`.

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


def read(path: Path, layout: FileLayout, progress: Progress | None = None) -> tuple[Simple, ReadCounts]:
    """Read a whole file into a simple graph, and count its lines; it takes about 8 to 16 bytes an edge line.

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
        raise BadInputError(
            f"{path}: holds no edge; name another file, or say with `header_lines: N` how many lines "
            "come before the first edge."
        )
    if layout.promised is not None and layout.promised != edge_lines:
        raise BadInputError(
            f"{path}, line {layout.skip_lines}: promises {layout.promised:,} entries, but {edge_lines:,} follow; the "
            "file is cut off or was edited: fetch it again."
        )
    if layout.single or layout.suspect:
        problem = suspicion(layout, _rest(simple, layout, edge_lines, largest))
        if problem:
            raise BadInputError(f"{path}, {problem}")
    return simple, ReadCounts(**counts, self_loops=simple.loops, duplicates=simple.duplicates)


def _parsed(path: Path, layout: FileLayout) -> Iterator[Block]:
    """Parse the file's blocks. Raises BadInputError for the first line that can't be used."""
    line = layout.skip_lines + 1
    with uncompressed(path) as stream:
        first = True
        for text in _blocks(stream, layout.skip_bytes):
            if not text.endswith(b"\n"):
                raise BadInputError(
                    f"{path}, line {line}: is longer than {MOST_LINE_BYTES >> 20} MiB; name a file of edges, one "
                    "`u v` per line."
                )
            try:
                block = parse(text, layout, first=first)
            except BadLineError as error:
                bad = text.split(b"\n", error.index + 1)[error.index]
                raise BadInputError(
                    f"{path}, line {line + error.index}: `{shorten(bad)}` {error.mistake}; {error.cure}."
                ) from None
            yield block
            first = first and not block.pairs.size
            line += block.lines


def _rest(simple: Simple, layout: FileLayout, edge_lines: int, largest: int) -> Rest:
    """Count the file without its first edge, if that is suspected."""
    nodes = node_count(simple)
    if not layout.suspect:
        return Rest(edge_lines, simple.keys.size, nodes, largest)
    ends = layout.suspect.numbers[:2]
    low, high = unpack(simple.keys)
    all_nodes = nodes
    for end in set(ends):
        number = end if simple.table is None else int(np.searchsorted(simple.table, end))
        if (low == number).sum() + (high == number).sum() <= 1:
            nodes -= 1
    return Rest(edge_lines - 1, simple.keys.size - (ends[0] != ends[1]), nodes, largest, all_nodes - nodes)


def _blocks(stream: BinaryIO, skip_bytes: int) -> Iterator[bytes]:
    """Cut a stream, behind its first bytes, at line ends; a block without a newline is too long a line."""
    while skip_bytes:
        skip_bytes -= len(stream.read(min(skip_bytes, BLOCK_BYTES)))
    rest = b""
    while chunk := stream.read(BLOCK_BYTES):
        text = rest + chunk
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if end:
            yield text[:end]
        if len(rest) > MOST_LINE_BYTES:
            yield rest
    if rest:
        yield rest + b"\n"


def write_lines(path: Path, layout: FileLayout, to: Path) -> None:
    """Write a file's lines behind its header and byte order mark, uncompressed, all with an end."""
    with uncompressed(path) as stream, to.open("wb") as file:
        file.writelines(_blocks(stream, layout.skip_bytes))


_CHUNK = 1 << 20


def write_canonical(keys: Keys, path: Path) -> None:
    """Write packed, sorted, distinct edges, whose ids are below 2^32, at about 3 million lines a second."""
    write_edges((unpack(keys[start : start + _CHUNK]) for start in range(0, keys.size, _CHUNK)), path)


def write_edges(chunks: Iterable[tuple[NDArray[Any], NDArray[Any]]], file: Path, lone: Sequence[int] = ()) -> None:
    """Write a line for each edge, whose ends come some at a time (shapes (m,)), then one for each lone vertex."""
    schema = pa.schema([("first", pa.uint64()), ("second", pa.uint64())])
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with csv.CSVWriter(str(file), schema, write_options=options) as writer:
        for ends in chunks:
            for start in range(0, len(ends[0]), _CHUNK):
                columns = [pa.array(end[start : start + _CHUNK].astype(np.uint64, copy=False)) for end in ends]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    with file.open("ab") as out:
        out.write("".join(f"{vertex}\n" for vertex in lone).encode())


class InputFacts(Frozen):
    """What is known of a file's content, found again by its checksum: the counts of the graph and of the lines."""

    sha256: str
    facts: GraphFacts
    counts: ReadCounts


def checksum(path: Path) -> str:
    """Return the SHA-256 of the file as it is on disk, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def save(path: Path, known: InputFacts) -> None:
    """Write `known` as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, known.model_dump_json(indent=1) + "\n")


def load(path: Path, sha256: str | None = None) -> InputFacts | None:
    """Read what was saved; None if nothing was, or for another `sha256`, or by another version of Assay."""
    try:
        known = InputFacts.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole_facts = known.facts.wedges_by_degree is not None
    return known if whole_facts and sha256 in (None, known.sha256) else None

"""Turning a block of text into numbers, many lines at a time.

Every byte is classed as a digit, a separator or something else; tokens and lines are then array operations. A block
takes the same path whatever its quirks: comments, blank lines, carriage returns, commas, tabs, many spaces. A line that
can't be an edge is found by its place in the block, so that its number can be told.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.dataset.formats import Layout

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

    Raises:
        BadLineError: for the first line that is neither an edge, a comment, blank, nor a lone vertex where allowed.
    """
    if block.count(b"\r") != block.count(b"\r\n"):
        _refuse_bare_return(block)
    tokens = _tokenise(block)
    comment = _comments(block, tokens)
    blank = tokens.filling == 0
    data = ~(comment | blank)
    _check_counts(tokens, data, layout)
    if b",," in block or b";;" in block:
        _check_empty_fields(block, data)
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
    if not layout.extra_columns:
        more = np.flatnonzero(data & (tokens.filling > 2))
        if more.size:
            raise BadLineError(
                int(more[0]),
                "has more than two columns",
                "if the others are weights or times, cut those columns off, or name the columns in a first "
                "line of a CSV file; else remove them",
            )
    if not layout.lone_lines:
        single = np.flatnonzero(data & (tokens.filling == 1))
        if single.size:
            raise BadLineError(
                int(single[0]),
                "holds one column where an edge `u v` is expected",
                "say `format: edges` if such a line is a vertex without an edge, or `header_lines: N` if "
                "it belongs to the header; else fetch the file again",
            )


def _refuse_bare_return(block: bytes) -> None:
    """Hadoop takes a carriage return alone as the end of a line, which other programs don't: such lines are refused."""
    for index, line in enumerate(block.split(b"\n")):
        if b"\r" in line[:-1]:
            raise BadLineError(index, "has a carriage return inside", "give every line its own end, LF or CR LF")


def _check_empty_fields(block: bytes, data: NDArray[np.bool_]) -> None:
    for index, line in enumerate(block.split(b"\n")[:-1]):
        if data[index] and (b",," in line or b";;" in line):
            raise BadLineError(index, "has an empty column", "give both ends of the edge, or remove the line")


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

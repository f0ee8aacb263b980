"""Rows made from a seed: lines of equal length, each of which begins with its own number."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.input.staging import put_pieces
from assay.model.dataset import Amounts
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

ROW_DIGITS = 10
GROUPS = 100
_GROUP_DIGITS, _VALUE_DIGITS = 2, 9
LEAST_BYTES = ROW_DIGITS + _GROUP_DIGITS + _VALUE_DIGITS + len(",,,\n")
"""Of a line that has nothing after its value."""
_CHUNK = 1 << 17
_PIECE_BYTES = 4 << 20
# What numbers are drawn for, in the seeds of their generators.
_FIELDS, _FILLING = 0, 1

Whole = NDArray[np.int64]


class GeneratedRows(Input):
    """Lines `row,group,value,filling`, in the store one file in the order of the rows, which count from 0.

    Groups (0 to 99) and values (0 to 999,999,999) are uniform and independent; the filling has letters. Numbers have
    as many digits as the largest, so that all lines have `line_bytes`, their ends included.
    """

    def __init__(self, count: int, line_bytes: int, seed: int) -> None:
        """`line_bytes` is LEAST_BYTES or more, and `count` has ROW_DIGITS digits or fewer."""
        self.count, self.line_bytes, self._seed = count, line_bytes, seed

    def size(self) -> Amounts:
        return Amounts(bytes=self.count * self.line_bytes, lines=self.count)

    def fields(self, rows: Whole) -> tuple[Whole, Whole]:
        """Return the groups and the values of rows that ascend (each of the shape of `rows`)."""
        groups, values = np.empty_like(rows), np.empty_like(rows)
        for chunk in np.unique(rows // _CHUNK).tolist():
            here = slice(*np.searchsorted(rows, (chunk * _CHUNK, (chunk + 1) * _CHUNK)))
            all_groups, all_values = self._drawn(chunk)
            places = rows[here] - chunk * _CHUNK
            groups[here], values[here] = all_groups[places], all_values[places]
        return groups, values

    def put(self, path: str, store: Store, progress: Progress) -> None:
        progress.detail("make rows")
        put_pieces(store, f"{path}/rows.txt", self.text_pieces(), int(self.size().bytes))

    def text_pieces(self) -> Iterator[bytes]:
        """Yield the text, some rows at a time."""
        some = max(1, _PIECE_BYTES // self.line_bytes)
        for chunk in range(-(-self.count // _CHUNK)):
            groups, values = self._drawn(chunk)
            letters = np.random.default_rng((self._seed, _FILLING, chunk))
            for at in range(0, len(groups), some):
                here = slice(at, at + some)
                rows = chunk * _CHUNK + np.arange(at, at + len(groups[here]))
                shape = (len(rows), self.line_bytes - LEAST_BYTES)
                comma = np.full((len(rows), 1), ord(","), np.uint8)
                cells = (
                    _digits(rows, ROW_DIGITS), comma, _digits(groups[here], _GROUP_DIGITS), comma,
                    _digits(values[here], _VALUE_DIGITS), comma,
                    letters.integers(ord("a"), ord("z") + 1, shape, np.uint8),
                    np.full((len(rows), 1), ord("\n"), np.uint8),
                )  # fmt: skip
                yield np.concatenate(cells, axis=1).tobytes()

    def _drawn(self, chunk: int) -> tuple[Whole, Whole]:
        """Draw groups and values of a chunk's rows by a generator for this chunk alone."""
        random = np.random.default_rng((self._seed, _FIELDS, chunk))
        rows = min(_CHUNK, self.count - chunk * _CHUNK)
        return random.integers(0, GROUPS, rows), random.integers(0, 10**_VALUE_DIGITS, rows)


def _digits(numbers: Whole, width: int) -> NDArray[np.uint8]:
    """Return the decimal digits of numbers as ASCII (shape (numbers, width))."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return (numbers[:, None] // powers % 10 + ord("0")).astype(np.uint8)

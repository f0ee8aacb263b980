"""Points: made from a seed, or read from text files of numbers."""

import io
import re
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from assay.host.files import refuse_irregular
from assay.input.staging import put_pieces
from assay.model.dataset import Amounts
from assay.model.errors import BadInputError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

_BLOCK_BYTES = 4 << 20
_SEPARATORS = bytes.maketrans(b",\t", b"  ")
# Characters at which numpy would split a line and the jobs don't.
_ODD = re.compile(rb"[^\n -~]")
_MOST_DIGITS = 1000
_SHOWN_BYTES = 40

DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ID = re.compile(rb"\d{1,19}", re.ASCII)


class LineForm(NamedTuple):
    """What a line holds: `columns` numbers (as many as the first line, where None), apart by commas, tabs or spaces.

    `row` and `number` are their names in a complaint; lines that start with `comment` are left out, as blank ones are.
    """

    row: str
    number: str
    pattern: re.Pattern[bytes]
    dtype: type[np.float64] | type[np.int64]
    columns: int | None = None
    comment: bytes | None = None


def tables(path: Path, form: LineForm) -> Iterator[NDArray[Any]]:
    """Yield the file's rows, some at a time (shape (rows, columns)).

    Raises BadInputError for a file that can't be read, and for the first line that is not of the form.
    """
    columns = form.columns
    try:
        for first, block in _blocks(path):
            table = _quickly(block, form, columns)
            if table is None:
                table = _line_by_line(path, first, block, form, columns)
            if len(table):
                columns = table.shape[1]
                yield table
    except OSError as error:
        raise BadInputError(f"{path} can't be read: {error.strerror}; give a text file") from None


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines, with the number of the first of them."""
    first, rest = 1, b""
    refuse_irregular(path)
    with path.open("rb") as file:
        while piece := file.read(_BLOCK_BYTES):
            whole, end, rest = (rest + piece).rpartition(b"\n")
            block = (whole + end).replace(b"\r\n", b"\n")
            yield first, block
            first += block.count(b"\n")
    if rest:
        yield first, rest.removesuffix(b"\r")


def _quickly(block: bytes, form: LineForm, columns: int | None) -> NDArray[Any] | None:
    """Parse a block as a whole; None where something in it needs a closer look."""
    text = block.translate(_SEPARATORS)
    if _ODD.search(text) or (form.comment is not None and form.comment in text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = np.loadtxt(io.StringIO(text.decode("ascii")), dtype=form.dtype, comments=None, ndmin=2)
    except (ValueError, UserWarning, DeprecationWarning):
        return None
    usable = np.isfinite(table).all() if form.dtype is np.float64 else (table >= 0).all()
    return table if usable and columns in {None, table.shape[1]} else None


def _line_by_line(path: Path, first: int, block: bytes, form: LineForm, columns: int | None) -> NDArray[Any]:
    rows = []
    for number, line in enumerate(block.split(b"\n"), first):
        fields = [field for field in line.translate(_SEPARATORS).split(b" ") if field]
        if not fields or (form.comment is not None and fields[0].startswith(form.comment)):
            continue
        row = []
        for field in fields:
            usable = len(field) <= _MOST_DIGITS and form.pattern.fullmatch(field) is not None
            value = (float(field) if form.dtype is np.float64 else int(field)) if usable else 0
            if not usable or abs(value) > np.finfo(np.float64).max or (form.dtype is np.int64 and value >= 1 << 63):
                shown = field[:_SHOWN_BYTES].decode(errors="replace")
                _refuse(path, number, f"{shown!r} is not {form.number}")
            row.append(value)
        columns = columns or len(row)
        if len(row) != columns:
            _refuse(path, number, f"the {form.row} has {len(row)} numbers, and must have {columns}")
        rows.append(row)
    return np.array(rows, dtype=form.dtype).reshape(len(rows), columns or 0)


def _refuse(path: Path, line: int, mistake: str) -> NoReturn:
    raise BadInputError(f"{path} line {line}: {mistake}; correct the line or give another file")


Floats = NDArray[np.float64]

_POINT = LineForm(row="point", number="a finite decimal number", pattern=DECIMAL, dtype=np.float64)
_CHUNK = 1 << 17
# The values of an attribute, by its kind: whole numbers, numbers with a fraction, and booleans, in turn.
_CODES = 100
_VALUES = np.array(
    [list(range(_CODES)), [code / 100 for code in range(_CODES)], [code % 2 for code in range(_CODES)]],
    dtype=np.float64,
)
_TEXTS = (
    [f"{code}," for code in range(_CODES)],
    [f"{code / 100:.2f}," for code in range(_CODES)],
    [f"{code % 2}," for code in range(_CODES)],
)
_WIDTH = 5
# What numbers are drawn for, in the seeds of their generators; centres are drawn by 1.
_USED, _UNUSED = 0, 2
# Bytes of a value with its separator, on average over the values, by kind.
_MEAN_BYTES = tuple(sum(map(len, texts)) / _CODES for texts in _TEXTS)


class Points(Input):
    """Points of equally many attributes, in an order; in the store a file with one point per line.

    The lines may have `unused` further numbers behind the attributes, which are no part of the points.
    """

    unused: int

    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Return the number of points and of their attributes."""

    @abstractmethod
    def chunks(self) -> Iterator[Floats]:
        """Yield all points, some at a time (shape (points, attributes))."""

    def at(self, places: NDArray[np.int64]) -> Floats:
        """Return the points at these positions, counted from 0 (shape (positions, attributes))."""
        chosen = np.empty((len(places), self.attributes))
        start = 0
        for chunk in self.chunks():
            here = (places >= start) & (places < start + len(chunk))
            chosen[here] = chunk[places[here] - start]
            start += len(chunk)
        return chosen

    def held_bytes(self) -> int:
        """Return the bytes of memory that stay taken after going through all points."""
        return 0

    @property
    def count(self) -> int:
        return self.shape()[0]

    @property
    def attributes(self) -> int:
        return self.shape()[1]


class GeneratedPoints(Points):
    """Attributes are whole numbers from 0 to 99, hundredths from 0.00 to 0.99, and booleans as 0 and 1, in turn.

    All are uniform and independent. With ten attributes a line has 32.6 bytes on average; the study's had 32.7. Unused
    numbers are made like further attributes; the points are the same, however many there are.
    """

    def __init__(self, count: int, attributes: int, seed: int, unused: int = 0) -> None:
        self._shape, self.seed, self.unused = (count, attributes), seed, unused
        self._kinds = np.arange(attributes) % len(_TEXTS)
        self._all_kinds = np.arange(attributes + unused) % len(_TEXTS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GeneratedPoints) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self._shape, self.seed, self.unused)

    def shape(self) -> tuple[int, int]:
        return self._shape

    def size(self) -> Amounts:
        size = int(self.count * sum(_MEAN_BYTES[kind] for kind in self._all_kinds))
        return Amounts(bytes=size, lines=self.count)

    def chunks(self) -> Iterator[Floats]:
        for codes in self._codes():
            yield _VALUES[self._kinds, codes]

    def at(self, places: NDArray[np.int64]) -> Floats:
        """Only the chunks that have any of them are made."""
        chosen = np.empty((len(places), self.attributes))
        for number in np.unique(places // _CHUNK):
            here = places // _CHUNK == number
            chosen[here] = _VALUES[self._kinds, self._chunk_codes(int(number))[places[here] % _CHUNK]]
        return chosen

    def put(self, path: str, store: Store, progress: Progress) -> None:
        """Put them at about 100 MB a second."""
        progress.detail("make points")
        put_pieces(store, f"{path}/points.txt", self.text_pieces(), int(self.size().bytes))

    def text_pieces(self) -> Iterator[bytes]:
        """Yield the text, some points at a time."""
        texts = np.array([list(text.ljust(_WIDTH, "\0").encode()) for kind in _TEXTS for text in kind], np.uint8)
        first = (self._all_kinds * _CODES).astype(np.uint16)
        for number, codes in enumerate(self._codes()):
            unused = self._chunk_codes(number, _UNUSED, self.unused) if self.unused else codes[:, :0]
            cells = texts.take(first + np.concatenate((codes, unused), axis=1), axis=0)
            last = cells[:, -1]
            last[last == ord(",")] = ord("\n")
            yield cells.tobytes().translate(None, b"\0")

    def _codes(self) -> Iterator[NDArray[np.uint8]]:
        """Draw the whole numbers from which the values are made."""
        yield from map(self._chunk_codes, range(-(-self.count // _CHUNK)))

    def _chunk_codes(self, number: int, purpose: int = _USED, columns: int | None = None) -> NDArray[np.uint8]:
        """Draw a chunk's numbers by a generator for this chunk and purpose alone."""
        random = np.random.default_rng((self.seed, purpose, number))
        shape = (min(_CHUNK, self.count - number * _CHUNK), self.attributes if columns is None else columns)
        return random.integers(0, _CODES, shape, dtype=np.uint8)


class FilePoints(Points):
    """A user's file: a point per line, its numbers apart by commas, tabs or spaces; blank lines are left out."""

    def __init__(self, path: Path, unused: int = 0) -> None:
        self._path, self.unused = path, unused

    def shape(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise BadInputError(f"{self._path} can't be read: {error.strerror}; give a text file") from None
        count, columns = _shape_of(self._path, status.st_size, status.st_mtime_ns)
        if columns <= self.unused:
            raise BadInputError(
                f"{self._path} has {columns} numbers in a line, of which {self.unused} are unused; leave 1 or more"
            )
        return count, columns - self.unused

    def size(self) -> Amounts:
        return Amounts(bytes=self._path.stat().st_size, lines=self.count)

    def held_bytes(self) -> int:
        """All points count twice, since both copies exist while they are read."""
        return 16 * self.count * (self.attributes + self.unused)

    def chunks(self) -> Iterator[Floats]:
        for start in range(0, len(self._all), _CHUNK):
            yield self._all[start : start + _CHUNK, : self.attributes]

    def put(self, path: str, store: Store, progress: Progress) -> None:
        store.put(self._path, f"{path}/points.txt")

    @cached_property
    def _all(self) -> Floats:
        return np.concatenate(list(tables(self._path, _POINT)))


@lru_cache(maxsize=16)
def _shape_of(path: Path, _size_bytes: int, _modified_ns: int) -> tuple[int, int]:
    """Count points and attributes of a file of this size and time. Raises BadInputError."""
    count = attributes = 0
    for table in tables(path, _POINT):
        count, attributes = count + len(table), table.shape[1]
    if not count:
        raise BadInputError(f"{path} has no point; give a file with one point per line")
    return count, attributes


def drawn(points: Points, k: int, seed: int) -> Floats:
    """Draw `k` of the points without replacement, in the order of drawing (shape (k, attributes))."""
    return points.at(np.random.default_rng((seed, 1)).choice(points.count, k, replace=False))

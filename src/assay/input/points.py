"""Points: made from a seed, or read from text files of numbers."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.host.files import refuse_irregular
from assay.model.errors import BadInputError

_BLOCK_BYTES = 4 << 20
_SEPARATORS = bytes.maketrans(b",\t", b"  ")
# Characters at which numpy would split a line and the jobs don't.
_ODD = re.compile(rb"[^\n -~]")
_MOST_DIGITS = 1000
_SHOWN_BYTES = 40

DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ID = re.compile(rb"\d{1,19}", re.ASCII)


class Form(NamedTuple):
    """What a line holds: `columns` numbers (as many as the first line, where None), apart by commas, tabs or spaces.

    `row` and `number` are their names in a complaint; lines that start with `comment` are left out, as blank ones are.
    """

    row: str
    number: str
    pattern: re.Pattern[bytes]
    dtype: type[np.float64] | type[np.int64]
    columns: int | None = None
    comment: bytes | None = None


def tables(path: Path, form: Form) -> Iterator[NDArray[Any]]:
    """The file's rows, some at a time (shape (rows, columns)).

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
    """Whole lines, and the number of the first of them."""
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


def _quickly(block: bytes, form: Form, columns: int | None) -> NDArray[Any] | None:
    """The rows of a block, unless something in it wants a closer look."""
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


def _line_by_line(path: Path, first: int, block: bytes, form: Form, columns: int | None) -> NDArray[Any]:
    rows = []
    for number, line in enumerate(block.split(b"\n"), first):
        fields = [field for field in line.translate(_SEPARATORS).split(b" ") if field]
        if not fields or (form.comment is not None and fields[0].startswith(form.comment)):
            continue
        row = [_number(path, number, field, form) for field in fields]
        columns = columns or len(row)
        if len(row) != columns:
            _refuse(path, number, f"the {form.row} has {len(row)} numbers, and must have {columns}")
        rows.append(row)
    return np.array(rows, dtype=form.dtype).reshape(len(rows), columns or 0)


def _number(path: Path, line: int, field: bytes, form: Form) -> float | int:
    usable = len(field) <= _MOST_DIGITS and form.pattern.fullmatch(field) is not None
    number = (float(field) if form.dtype is np.float64 else int(field)) if usable else 0
    if not usable or abs(number) > np.finfo(np.float64).max or (form.dtype is np.int64 and number >= 1 << 63):
        shown = field[:_SHOWN_BYTES].decode(errors="replace")
        _refuse(path, line, f"{shown!r} is not {form.number}")
    return number


def _refuse(path: Path, line: int, what: str) -> NoReturn:
    raise BadInputError(f"{path} line {line}: {what}; correct the line or give another file")


Floats = NDArray[np.float64]

_POINT = Form(row="point", number="a finite decimal number", pattern=DECIMAL, dtype=np.float64)
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
# Bytes of a value with its separator, on average over the values, by kind.
_MEAN_BYTES = tuple(sum(map(len, texts)) / _CODES for texts in _TEXTS)


class Points(Protocol):
    """Points of equally many attributes, in an order."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def attributes(self) -> int:
        """Of each."""
        ...

    @property
    def text_bytes(self) -> int:
        """The text's length, or what it will be about."""
        ...

    @property
    def held_bytes(self) -> int:
        """The memory that going through them takes for good."""
        ...

    def chunks(self) -> Iterator[Floats]:
        """All of them, some at a time (shape (points, attributes))."""
        ...

    def text_file(self, scratch: Path) -> Path:
        """A local file with one point per line; made in the directory `scratch` where there is none yet."""
        ...


class MadePoints:
    """Attributes are whole numbers from 0 to 99, hundredths from 0.00 to 0.99, and booleans as 0 and 1, in turn.

    All are uniform and independent. With ten attributes a line has 32.6 bytes on average; the study's had 32.7.
    """

    def __init__(self, count: int, attributes: int, seed: int) -> None:
        self.count, self.attributes, self.seed = count, attributes, seed
        self._kinds = np.arange(attributes) % len(_TEXTS)

    @property
    def text_bytes(self) -> int:
        """By the values' mean lengths."""
        return int(self.count * sum(_MEAN_BYTES[kind] for kind in self._kinds))

    @property
    def held_bytes(self) -> int:
        """Nothing: chunks are made again each time."""
        return 0

    def chunks(self) -> Iterator[Floats]:
        """Made from the seed each time."""
        for codes in self._codes():
            yield _VALUES[self._kinds, codes]

    def text_file(self, scratch: Path) -> Path:
        """About 100 MB a second."""
        file = scratch / "points.txt"
        with file.open("wb") as out:
            out.writelines(self.text_pieces())
        return file

    def text_pieces(self) -> Iterator[bytes]:
        """The text, some points at a time."""
        texts = np.array([list(text.ljust(_WIDTH, "\0").encode()) for kind in _TEXTS for text in kind], np.uint8)
        first = (self._kinds * _CODES).astype(np.uint16)
        for codes in self._codes():
            cells = texts.take(first + codes, axis=0)
            last = cells[:, -1]
            last[last == ord(",")] = ord("\n")
            yield cells.tobytes().translate(None, b"\0")

    def _codes(self) -> Iterator[NDArray[np.uint8]]:
        """What the values are made of; a generator of its own for each chunk."""
        for number, start in enumerate(range(0, self.count, _CHUNK)):
            random = np.random.default_rng((self.seed, 0, number))
            yield random.integers(0, _CODES, (min(_CHUNK, self.count - start), self.attributes), dtype=np.uint8)


class FilePoints:
    """A user's file: a point per line, its numbers apart by commas, tabs or spaces; blank lines are left out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def count(self) -> int:
        """Counted once in the file. Raises BadInputError."""
        return self._shape[0]

    @property
    def attributes(self) -> int:
        """Of the first point, and of all. Raises BadInputError."""
        return self._shape[1]

    @property
    def text_bytes(self) -> int:
        """As it is."""
        return self._path.stat().st_size

    @property
    def held_bytes(self) -> int:
        """All of them, twice while they are read."""
        return 16 * self.count * self.attributes

    def chunks(self) -> Iterator[Floats]:
        """Read once, and then kept."""
        for start in range(0, len(self._all), _CHUNK):
            yield self._all[start : start + _CHUNK]

    def text_file(self, scratch: Path) -> Path:  # noqa: ARG002 - as made points are
        """The file itself."""
        return self._path

    @cached_property
    def _all(self) -> Floats:
        return np.concatenate(list(tables(self._path, _POINT)))

    @property
    def _shape(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise BadInputError(f"{self._path} can't be read: {error.strerror}; give a text file") from None
        return _shape_of(self._path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _shape_of(path: Path, _size_bytes: int, _modified_ns: int) -> tuple[int, int]:
    """Points and attributes of a file as it is now, of this size and time. Raises BadInputError."""
    count = attributes = 0
    for table in tables(path, _POINT):
        count, attributes = count + len(table), table.shape[1]
    if not count:
        raise BadInputError(f"{path} has no point; give a file with one point per line")
    return count, attributes


def drawn(points: Points, k: int, seed: int) -> Floats:
    """`k` of the points, drawn without replacement, in the order in which they were drawn (shape (k, attributes)).

    Those of made points are remembered: a plan's trials all draw the same.
    """
    if isinstance(points, MadePoints):
        return _drawn_of_made(points.count, points.attributes, points.seed, k, seed).copy()
    return _drawn(points, k, seed)


@lru_cache(maxsize=4)
def _drawn_of_made(count: int, attributes: int, points_seed: int, k: int, seed: int) -> Floats:
    return _drawn(MadePoints(count, attributes, points_seed), k, seed)


def _drawn(points: Points, k: int, seed: int) -> Floats:
    places = np.random.default_rng((seed, 1)).choice(points.count, k, replace=False)
    found = np.empty((k, points.attributes))
    start = 0
    for chunk in points.chunks():
        here = (places >= start) & (places < start + len(chunk))
        found[here] = chunk[places[here] - start]
        start += len(chunk)
    return found


def write_points(points: Floats, file: Path) -> None:
    """One per line, numbers so that they are read as the same doubles."""
    rows: Sequence[Sequence[float]] = points.tolist()
    file.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))

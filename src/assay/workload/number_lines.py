"""Text files of numbers, a row per line, that users bring: read quickly, and refused with file and line where wrong."""

import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from assay.files import refuse_irregular
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
    raise BadInputError(f"{path} line {line}: {what}; mend the line or give another file")

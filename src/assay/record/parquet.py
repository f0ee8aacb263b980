"""A trial's tables on disk: rows of one of our types, and samples by series."""

from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from assay.host.files import refuse_irregular
from assay.model.errors import BadInputError
from assay.record.schema_2 import renamed

ROWS_AT_ONCE = 1 << 17
"""Rows of a table that are turned into columns together: a long trial has millions of samples."""
# Series by series, times rise by about the same: their differences take a byte, values that come again even less.
SAMPLES = {
    "compression": "zstd",
    "use_dictionary": ["probe", "series", "value", "node"],
    "column_encoding": {"time_ms": "DELTA_BINARY_PACKED"},
}


Row = TypeVar("Row", bound=BaseModel)


class Series(NamedTuple):
    """One series of samples: milliseconds since the epoch, rising, and the value at each."""

    times_ms: list[int]
    values: list[float]


def write_rows(
    file: Path,
    kind: type[BaseModel],
    rows: Collection[BaseModel],
    encoding: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """A parquet table with one column per field; its types come from the kind, so that no rows make an empty table."""
    import pyarrow
    from pyarrow import parquet

    columns = {name: column_type(field.annotation) for name, field in kind.model_fields.items()}
    schema = pyarrow.schema(list(columns.items()))
    with parquet.ParquetWriter(file, schema, **encoding) as writer:
        left = iter(rows)
        for _ in range(0, max(1, len(rows)), ROWS_AT_ONCE):
            some = [{name: getattr(row, name) for name in columns} for row in islice(left, ROWS_AT_ONCE)]
            writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))


def column_type(annotation: object) -> Any:
    """Parquet's type for a field's: whole numbers, numbers, texts; each may be missing."""
    import pyarrow

    kinds = [one for one in get_args(annotation) if one is not NoneType] if isinstance(annotation, UnionType) else []
    (kind,) = kinds or [annotation]
    return {int: pyarrow.int64(), float: pyarrow.float64()}.get(kind, pyarrow.string())


def read_table(file: Path, wanted: Any = None) -> Any:
    """A table, or the rows of it that are wanted; None without a file. Raises BadInputError when it is damaged."""
    import pyarrow
    from pyarrow import parquet

    if not file.exists():
        return None
    refuse_irregular(file)
    try:
        return renamed(parquet.read_table(file, filters=wanted))
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInputError(f"{file} can't be read: {error}") from None


def read_rows(file: Path, kind: type[Row]) -> list[Row]:
    """The rows of a table that `write_rows` wrote, as far as the kind has its columns.

    Raises BadInputError when the file is damaged.
    """
    table = read_table(file)
    if table is None:
        return []
    try:
        known = table.select([name for name in table.column_names if name in kind.model_fields])
        return [kind.model_validate(row) for row in known.to_pylist()]
    except ValidationError as error:
        raise BadInputError(f"{file} can't be read: {error}") from None


def read_series(file: Path) -> "dict[tuple[str, str], Series]":
    """A trial's samples by probe and series, of the first node where there are several; empty where there is no file.

    Raises BadInputError when it is damaged.
    """
    from pyarrow import compute

    table = read_table(file)
    if table is None:
        return {}
    if "node" in table.column_names and (nodes := table["node"].unique().drop_null()):
        table = table.filter(compute.equal(table["node"], nodes[0]))
    grouped = table.group_by(["probe", "series"], use_threads=False).aggregate([("time_ms", "list"), ("value", "list")])
    return {
        (row["probe"], row["series"]): Series(row["time_ms_list"], row["value_list"]) for row in grouped.to_pylist()
    }

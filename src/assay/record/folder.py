"""The run folder: `plan.json` and one folder per finished trial, which appears whole by one rename.

RUN/plan.json                      the plan, written first
RUN/trials/<id>/record.json        the record (schema-versioned), with the probes' amounts
RUN/trials/<id>/tasks.parquet      one row per task attempt
RUN/trials/<id>/phases.parquet     one row per task attempt whose log could be read: its finer phases
RUN/trials/<id>/signature.json     the jobs' I/O signature, where a probe saw requests
RUN/trials/<id>/samples.parquet    one row per probe, series and time
RUN/damaged/                       record folders that could not be read when their trial was run again

A record folder is never changed after it has appeared. What can't be read is named and left out, never guessed.
"""

import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from assay.model.errors import BadInputError
from assay.model.record import Record, Sample, TaskAttempt
from assay.model.result import TrialResult
from assay.model.signature import Signature
from assay.model.task import TaskPhases
from assay.model.trial import Plan

ROWS_AT_ONCE = 1 << 17
"""Rows of a table that are turned into columns together: a long trial has millions of samples."""
# Series by series, times rise by about the same: their differences take a byte, values that come again even less.
_SAMPLES = {
    "compression": "zstd",
    "use_dictionary": ["probe", "series", "value"],
    "column_encoding": {"time_ms": "DELTA_BINARY_PACKED"},
}


Row = TypeVar("Row", bound=BaseModel)


class Series(NamedTuple):
    """One series of samples: milliseconds since the epoch, rising, and the value at each."""

    times_ms: list[int]
    values: list[float]


class Damaged(NamedTuple):
    """A record folder that can't be used, and why."""

    folder: Path
    reason: str


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._trials = path / "trials"

    def check_free(self) -> None:
        """Raises BadInputError when a run can't begin here because the folder is not empty."""
        if self.path.exists() and (not self.path.is_dir() or self._holds_something()):
            raise BadInputError(
                f"{self.path} is not empty; name another folder with --out, or continue it with --resume"
            )

    def _holds_something(self) -> bool:
        """Anything but what a run that was killed at its very beginning leaves."""
        names = {entry.name for entry in self.path.iterdir()} - {".plan.draft"}
        return names not in (set(), {"trials"}) or any(self._trials.glob("*"))

    def create(self, plan: Plan) -> None:
        """Begin a run. Raises BadInputError when the folder is not empty."""
        self.check_free()
        self._trials.mkdir(parents=True, exist_ok=True)
        self.replace_plan(plan)

    def replace_plan(self, plan: Plan) -> None:
        """Another plan for this run, in one step: finished trials stay, and must be in it."""
        draft = self.path / ".plan.draft"
        draft.write_text(plan.model_dump_json(indent=1))
        draft.rename(self.path / "plan.json")

    def plan(self) -> Plan:
        """The run's plan. Raises BadInputError when this is no run folder."""
        file = self.path / "plan.json"
        try:
            return Plan.model_validate_json(file.read_text())
        except OSError:
            raise BadInputError(f"{self.path} is not a run folder: it has no plan.json") from None
        except ValidationError as error:
            raise BadInputError(f"{file} can't be read: {_first(error)}") from None

    def finished(self) -> set[str]:
        """The ids of the trials that ran to their end; a trial that failed is finished too."""
        return {record.trial.id for record in self.records()[0]}

    def records(self) -> tuple[list[Record], list[Damaged]]:
        """All readable records in the order of the plan, and what could not be read."""
        records, damaged = [], []
        for folder in sorted(self._trials.glob("[!.]*")):
            try:
                record = Record.model_validate_json((folder / "record.json").read_text())
                if record.trial.id != folder.name:
                    raise ValueError(f"it says that it is trial {record.trial.id}")
                records.append(record)
            except ValidationError as error:
                damaged.append(Damaged(folder, _first(error)))
            except (OSError, ValueError) as error:
                damaged.append(Damaged(folder, str(error)))
        return records, damaged

    def write(self, result: TrialResult) -> None:
        """Add a finished trial: all files are on disk before the folder gets its name."""
        record = result.record
        draft = self._trials / f".{record.trial.id}-{uuid.uuid4().hex[:8]}"
        draft.mkdir(parents=True)
        (draft / "record.json").write_text(record.model_dump_json(indent=1))
        _write_rows(draft / "tasks.parquet", TaskAttempt, result.attempts)
        _write_rows(draft / "phases.parquet", TaskPhases, result.phases)
        _write_rows(draft / "samples.parquet", Sample, result.samples, _SAMPLES)
        if result.signature is not None:
            (draft / "signature.json").write_text(result.signature.model_dump_json(indent=1))
        for file in draft.iterdir():
            _flush(file)
        self._put_aside(record.trial.id)
        draft.rename(self._trials / record.trial.id)
        _flush(self._trials)

    def attempts(self, trial: str) -> list[TaskAttempt]:
        """A trial's task attempts; none where the file is missing."""
        return _read_rows(self._trials / trial / "tasks.parquet", TaskAttempt)

    def phases(self, trial: str) -> list[TaskPhases]:
        """The finer phases of a trial's task attempts; none where there are none."""
        return _read_rows(self._trials / trial / "phases.parquet", TaskPhases)

    def series(self, trial: str) -> "dict[tuple[str, str], Series]":
        """A trial's samples: times and values of each probe's series; empty where the file is missing."""
        return _read_series(self._trials / trial / "samples.parquet")

    def samples_bytes(self, trial: str) -> int:
        """What a trial's samples take on disk."""
        file = self._trials / trial / "samples.parquet"
        return file.stat().st_size if file.exists() else 0

    def signature(self, trial: str) -> Signature | None:
        """A trial's I/O signature. Raises BadInputError when its file is damaged."""
        file = self._trials / trial / "signature.json"
        if not file.exists():
            return None
        try:
            return Signature.model_validate_json(file.read_text())
        except ValidationError as error:
            raise BadInputError(f"{file} can't be read: {_first(error)}") from None

    def _put_aside(self, trial: str) -> None:
        """Keep an unreadable record folder of the same trial, in RUN/damaged, where nobody takes it for a record."""
        if (self._trials / trial).exists():
            (self.path / "damaged").mkdir(exist_ok=True)
            (self._trials / trial).rename(self.path / "damaged" / f"{trial}-{uuid.uuid4().hex[:8]}")

    def drop_drafts(self) -> None:
        """Remove what a killed run left half-written."""
        for draft in self._trials.glob(".*"):
            shutil.rmtree(draft)


def _write_rows(
    file: Path, kind: type[BaseModel], rows: Sequence[BaseModel], encoding: Mapping[str, object] = MappingProxyType({})
) -> None:
    """A parquet table with one column per field; its types come from the kind, so that no rows make an empty table."""
    import pyarrow
    from pyarrow import parquet

    columns = {name: _column_type(field.annotation) for name, field in kind.model_fields.items()}
    schema = pyarrow.schema(list(columns.items()))
    with parquet.ParquetWriter(file, schema, **encoding) as writer:
        left = iter(rows)
        for _ in range(0, max(1, len(rows)), ROWS_AT_ONCE):
            some = [{name: getattr(row, name) for name in columns} for row in islice(left, ROWS_AT_ONCE)]
            writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))


def _column_type(annotation: object) -> Any:
    """Parquet's type for a field's: whole numbers, numbers, texts; each may be missing."""
    import pyarrow

    kinds = [one for one in get_args(annotation) if one is not NoneType] if isinstance(annotation, UnionType) else []
    (kind,) = kinds or [annotation]
    return {int: pyarrow.int64(), float: pyarrow.float64()}.get(kind, pyarrow.string())


def _read_rows(file: Path, kind: type[Row]) -> list[Row]:
    """The rows of a table that `_write_rows` wrote. Raises BadInputError when the file is damaged."""
    import pyarrow
    from pyarrow import parquet

    if not file.exists():
        return []
    try:
        return [kind.model_validate(row) for row in parquet.read_table(file).to_pylist()]
    except (pyarrow.ArrowException, ValidationError) as error:
        raise BadInputError(f"{file} can't be read: {error}") from None


def _read_series(file: Path) -> "dict[tuple[str, str], Series]":
    import pyarrow
    from pyarrow import parquet

    if not file.exists():
        return {}
    try:
        table = parquet.read_table(file)
    except pyarrow.ArrowException as error:
        raise BadInputError(f"{file} can't be read: {error}") from None
    grouped = table.group_by(["probe", "series"], use_threads=False).aggregate([("time_ms", "list"), ("value", "list")])
    return {
        (row["probe"], row["series"]): Series(row["time_ms_list"], row["value_list"]) for row in grouped.to_pylist()
    }


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"

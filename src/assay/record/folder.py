"""The run folder: `plan.json` and one folder per finished trial, which appears whole by one rename.

A folder that was written without them is read as it is: nothing is claimed of it.

RUN/plan.json                      the plan, written first
RUN/experiment.yaml                the experiment that it was made from, with the folder of its paths
RUN/summaries.jsonl                what judgements need of trials, made from their records (`assay.record.summaries`)
RUN/demands.jsonl                  what trials would ask of predicted drives (`assay.record.demands`)
RUN/trials/<id>/record.json        the record (schema-versioned), with the probes' amounts
RUN/trials/<id>/tasks.parquet      one row per task attempt
RUN/trials/<id>/phases.parquet     one row per task attempt whose log could be read: its finer phases
RUN/trials/<id>/signature.json     the jobs' I/O signature, where a probe saw requests
RUN/trials/<id>/requests.parquet   with `keep_requests`: one row per request to a drive (`assay.record.request_log`)
RUN/trials/<id>/samples.parquet    one row per probe, subject, series and time
RUN/trials/<id>/logs.tar.gz        of a trial that failed: the ends of the cluster's logs
RUN/trials/<id>/sha256sums         the checksums of all these
RUN/damaged/                       record folders that could not be read when their trial was run again

A record folder is never changed after it has appeared. What can't be read is named and left out, never guessed.
"""

import hashlib
import os
import shutil
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from assay.host.files import (
    MOST_RECORDED_BYTES,
    UnreadableFileError,
    opened,
    read_bytes,
    read_text,
    refuse_irregular,
    replace_text,
)
from assay.model.errors import BadInputError
from assay.model.installed import engine_kind
from assay.model.naming import did_you_mean, similar
from assay.model.record import REMOTE_NODES, Record, Sample, Series, SeriesKey
from assay.model.result import TrialResult
from assay.model.signature import Requests, Signature
from assay.model.task import TaskAttempt, TaskPhases
from assay.model.trial import Plan, Trial
from assay.record.model_time import ModelClock, clock_of, in_model_time
from assay.record.reading import OtherSchemaError, Unreadable, first_of, read_as, whole_record
from assay.record.request_log import REQUESTS, read_requests, write_requests
from assay.record.scale_rules import with_verdicts
from assay.record.writing import fit, fit_rows, readable_text

ROWS_AT_ONCE = 1 << 17
"""Rows of a table that are turned into columns together: a long trial has millions of samples."""
# Series by series, times rise by about the same: their differences take a byte, values that come again even less.
SAMPLES = {
    "compression": "zstd",
    "use_dictionary": ["probe", "subject", "series", "value", "node"],
    "column_encoding": {"time_ms": "DELTA_BINARY_PACKED"},
}


Row = TypeVar("Row", bound=BaseModel)


def write_rows(
    file: Path, kind: type[BaseModel], rows: Collection[BaseModel], lost: list[str] | None = None, **encoding: object
) -> None:
    """A parquet table with one column per field; its types come from the kind, so that no rows make an empty table.

    `lost` gets the names of figures that are no numbers.
    """
    import pyarrow
    from pyarrow import parquet

    columns = {name: column_type(field.annotation) for name, field in kind.model_fields.items()}
    schema = pyarrow.schema(list(columns.items()))
    with parquet.ParquetWriter(file, schema, **encoding) as writer:
        left = fit_rows(rows, [] if lost is None else lost)
        for _ in range(0, max(1, len(rows)), ROWS_AT_ONCE):
            some = [{name: getattr(row, name) for name in columns} for row in islice(left, ROWS_AT_ONCE)]
            writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))


def column_type(annotation: object) -> Any:
    """Parquet's type for a field's: yes or no, whole numbers, numbers, texts; each may be missing."""
    import pyarrow

    kinds = [arg for arg in get_args(annotation) if arg is not NoneType] if isinstance(annotation, UnionType) else []
    (kind,) = kinds or [annotation]
    types = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    return types.get(kind, pyarrow.string())


def read_table(file: Path, wanted: Any = None) -> Any:
    """A table, or the rows of it that are wanted; None without a file. Raises BadInputError when it is damaged."""
    import pyarrow
    from pyarrow import parquet

    if not file.exists():
        return None
    refuse_irregular(file)
    try:
        return parquet.read_table(file, filters=wanted)
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInputError(f"{file} can't be read: {error}") from None


def read_rows(file: Path, kind: type[Row]) -> list[Row]:
    """What `write_rows` wrote, as far as the kind has its columns. Raises BadInputError when the file is damaged."""
    table = read_table(file)
    if table is None:
        return []
    try:
        known = table.select([name for name in table.column_names if name in kind.model_fields])
        return [kind.model_validate(row) for row in known.to_pylist()]
    except ValidationError as error:
        raise BadInputError(f"{file} can't be read: {error}") from None


SUMS = "sha256sums"


def check_sum(folder: Path, name: str, content: bytes | None = None) -> None:
    """Raises Unreadable where a file, which may have been read (`content`), or its absence is not as the sums say."""
    try:
        lines = read_text(folder / SUMS, MOST_RECORDED_BYTES).splitlines()
    except UnreadableFileError as error:
        if error.missing:
            return
        raise Unreadable(f"{SUMS} was altered after it was written: {error.reason}") from None
    wanted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}.get(name)
    file = folder / name
    if wanted is None and not file.exists():
        return
    if wanted is None:
        raise Unreadable(f"{SUMS} does not name {name}: one of them was altered after they were written")
    if not file.exists():
        raise Unreadable(f"{name} is not there, and {SUMS} names it")
    if wanted != (_digest(file) if content is None else hashlib.sha256(content).hexdigest()):
        raise Unreadable(f"{name} is not what {SUMS} says: one of them was altered after they were written")


def _digest(file: Path) -> str:
    refuse_irregular(file)
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


RECORD, EXPERIMENT, LOGS = "record.json", "experiment.yaml", "logs.tar.gz"


class Damaged(NamedTuple):
    """A record folder that can't be used, and why."""

    folder: Path
    reason: str


class DamagedRecordError(BadInputError):
    """A record can't be read; `damaged` says so to those who go on without it."""

    def __init__(self, damaged: Damaged) -> None:
        super().__init__(f"{damaged.folder} can't be read: {damaged.reason}")
        self.damaged = damaged


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._trials = path / "trials"
        self._clocks: dict[str, ModelClock] = {}

    def check_free(self) -> None:
        """Raises BadInputError when a run can't begin here because the folder is not empty."""
        # A run that was killed at its very beginning leaves no more than these.
        begun = {self.path / ".plan.draft", self._trials}
        free = self.path.is_dir() and begun.issuperset(self.path.iterdir()) and not any(self._trials.glob("*"))
        if self.path.exists() and not free:
            raise BadInputError(
                f"{self.path} is not empty; name another folder with --out, or continue it with --resume"
            )
        above = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            what = "can't be written to" if above.is_dir() else "is a file, and no folder"
            raise BadInputError(f"{self.path} can't be made: {above} {what}; name another folder with --out")

    def create(self, plan: Plan) -> None:
        """Begin a run. Raises BadInputError when the folder is not empty."""
        self.check_free()
        self._trials.mkdir(parents=True, exist_ok=True)
        self.replace_plan(plan)

    def replace_plan(self, plan: Plan) -> None:
        """Another plan for this run, in one step: finished trials stay, and must be in it."""
        replace_text(self.path / "plan.json", plan.model_dump_json(indent=1))

    def keep_experiment(self, text: str) -> None:
        """Keep the experiment's file, in one step, so that the run can be made again from its folder."""
        replace_text(self.path / EXPERIMENT, text)

    @property
    def experiment(self) -> Path | None:
        """The kept experiment's file; None where the run has none."""
        file = self.path / EXPERIMENT
        return file if file.is_file() else None

    def plan(self) -> Plan:
        """The run's plan. Raises BadInputError when this is no run folder."""
        file = self.path / "plan.json"
        try:
            return read_as(Plan, read_bytes(file))
        except UnreadableFileError as error:
            if not error.missing:
                raise
            runs = sorted(plan.parent.name for plan in self.path.absolute().parent.glob("*/plan.json"))
            close = similar(self.path.name, runs)
            hint = f"; {did_you_mean(close)}" if close else ""
            raise BadInputError(f"{self.path} is not a run folder: it has no plan.json{hint}") from None
        except OtherSchemaError as error:
            raise BadInputError(f"{file} can't be read: {error}{self._written_by()}") from None
        except Unreadable as error:
            raise BadInputError(f"{file} can't be read: {error}") from None

    def _written_by(self) -> str:
        """Which Assay wrote the run's records, as the end of a sentence; empty where none of them says so."""
        for trial in self.trials():
            with suppress(OSError, UnreadableFileError, ValueError, LookupError, TypeError):
                return f" (they are of Assay {from_json(read_bytes(self.file(trial, RECORD)))['facts']['assay']})"
        return ""

    def finished(self) -> set[str]:
        """The ids of the trials that ran to their end; a trial that failed is finished too."""
        return {one.trial.id for one in self.each() if isinstance(one, Record)}

    def records(self, plan: Plan | None = None) -> tuple[list[Record], list[Damaged]]:
        """All readable records in the order of the plan, and what could not be read; see `each`."""
        every = list(self.each(plan))
        return [one for one in every if isinstance(one, Record)], [one for one in every if isinstance(one, Damaged)]

    def each(self, plan: Plan | None = None) -> "Iterator[Record | Damaged]":
        """One record after the other, so that a run of any size fits into memory.

        `plan` is the run's, where it was read before. Raises BadInputError when this is no run folder.
        """
        planned = {trial.id: trial for trial in (plan or self.plan()).trials}
        return (self.read(trial, planned) for trial in self.trials())

    def read(self, trial: str, planned: Mapping[str, Trial] | None = None) -> "Record | Damaged":
        """One trial's record. One whose trial is not as it was `planned` counts as damaged."""
        folder = self._trials / trial
        try:
            return self._read(folder, planned)
        except UnreadableFileError as error:
            return Damaged(folder, f"{RECORD} can't be read: {error.reason}")
        except (OSError, Unreadable) as error:
            return Damaged(folder, str(error))

    def record(self, trial: str) -> Record:
        """All of one trial's record. Raises DamagedRecordError when it can't be read."""
        record = self.read(trial)
        if isinstance(record, Damaged):
            raise DamagedRecordError(record)
        return record

    def trials(self) -> list[str]:
        """The names of the trials' folders, in the order of the plan, readable or not."""
        with suppress(OSError):
            return sorted(name for name in os.listdir(self._trials) if not name.startswith("."))
        return []

    def record_state(self, trial: str) -> tuple[int, int]:
        """The size of a trial's record in bytes, and when it last changed in nanoseconds. Raises OSError without."""
        state = os.stat(f"{self._trials}/{trial}/{RECORD}")  # noqa: PTH116 - a path's object takes longer than the call
        return state.st_size, state.st_mtime_ns

    def file(self, trial: str, name: str) -> Path:
        """Where a trial's file lies, or would."""
        return self._trials / trial / name

    def _read(self, folder: Path, planned: Mapping[str, Trial] | None = None) -> Record:
        text = read_bytes(folder / RECORD)
        record = whole_record(text)
        if record.trial.id != folder.name:
            raise Unreadable(f"it says that it is trial {record.trial.id}")
        check_sum(folder, RECORD, text)
        if planned is not None and record.trial.id not in planned:
            raise Unreadable("the run's plan has no such trial")
        if planned is not None and record.trial != planned[record.trial.id]:
            raise Unreadable("its trial is not what the run's plan says: one of them was altered")
        self._clocks[record.trial.id] = clock_of(record)
        return with_verdicts(in_model_time(record))

    def clock(self, trial: str) -> ModelClock:
        """That of a trial's tables, which its record tells. Raises BadInputError where that can't be read."""
        if trial not in self._clocks and self.file(trial, RECORD).exists():
            self.record(trial)
        return self._clocks.get(trial, ModelClock())

    def write(self, result: TrialResult) -> Record:
        """Add a finished trial: all files are on disk before the folder gets its name; gives the record as it is read.

        Figures that are no numbers are left out, with a doubt.
        """
        record = result.record
        draft = self._trials / f".{record.trial.id}-{uuid.uuid4().hex[:8]}"
        draft.mkdir(parents=True)
        engine = engine_kind(record.trial.engine)
        lost: list[str] = []
        write_rows(draft / "tasks.parquet", engine.attempt, result.attempts, lost)
        write_rows(draft / "phases.parquet", engine.log, result.phases, lost)
        write_rows(draft / "samples.parquet", Sample, result.samples, lost, **SAMPLES)
        if result.requests:
            write_requests(draft / REQUESTS, result.requests)
        signature = None if result.signature is None else fit(result.signature, lost)
        if signature is not None:
            (draft / "signature.json").write_text(signature.model_dump_json(indent=1), encoding="utf-8")
        record, text = readable_text(record, lost)
        (draft / RECORD).write_text(text, encoding="utf-8")
        if result.logs:
            (draft / LOGS).write_bytes(result.logs)
        sums = [f"{_digest(file)}  {file.name}\n" for file in sorted(draft.iterdir())]
        (draft / SUMS).write_text("".join(sums), encoding="utf-8")
        for file in draft.iterdir():
            _flush(file)
        final = self._trials / record.trial.id
        if final.exists():  # it can't be read: nobody takes it for a record where it is put
            (self.path / "damaged").mkdir(exist_ok=True)
            final.rename(self.path / "damaged" / f"{record.trial.id}-{uuid.uuid4().hex[:8]}")
        draft.rename(final)
        _flush(self._trials)
        return record

    def unaltered(self, trial: str, name: str) -> Path:
        """Where a trial's file lies, or would. Raises BadInputError where it is not as its checksum says."""
        try:
            check_sum(self._trials / trial, name)
        except (OSError, Unreadable) as error:
            raise BadInputError(f"{self._trials / trial / name} can't be read: {error}") from None
        return self._trials / trial / name

    def attempts(self, trial: Trial) -> list[TaskAttempt]:
        """A trial's task attempts; none where it has no such file. Raises BadInputError when that is damaged."""
        rows = read_rows(self.unaltered(trial.id, "tasks.parquet"), engine_kind(trial.engine).attempt)
        return list(map(self.clock(trial.id).row, rows))

    def phases(self, trial: Trial) -> list[TaskPhases]:
        """The finer phases of a trial's task attempts; else as `attempts`."""
        rows = read_rows(self.unaltered(trial.id, "phases.parquet"), engine_kind(trial.engine).log)
        return list(map(self.clock(trial.id).row, rows))

    def series(self, trial: str) -> dict[SeriesKey, Series]:
        """A trial's samples by what they are of; else as `attempts`."""
        clock, table = self.clock(trial), read_table(self.unaltered(trial, "samples.parquet"))
        if table is None:
            return {}
        keys, lists = ["probe", "subject", "series"], [("time_ms", "list"), ("value", "list")]
        nodes: list[str] = []
        if "node" in table.column_names:
            keys.append("node")
            nodes = table["node"].unique().drop_null().to_pylist()
        rows = table.group_by(keys, use_threads=False).aggregate(lists).to_pylist()
        afar = {row.get("node") for row in rows if row["probe"] == REMOTE_NODES}
        own = {None, *[node for node in nodes[:1] if node not in afar]}
        return {
            SeriesKey(
                row["probe"], row["subject"], row["series"], "" if row.get("node") in own else row["node"]
            ): Series(*clock.series(row["probe"], row["series"], row["time_ms_list"], row["value_list"]))
            for row in rows
        }

    def samples_bytes(self, trial: str) -> int:
        """What a trial's samples take on disk."""
        file = self._trials / trial / "samples.parquet"
        return file.stat().st_size if file.exists() else 0

    def signature(self, trial: str) -> Signature | None:
        """A trial's I/O signature. Raises BadInputError when its file is damaged."""
        file = self.unaltered(trial, "signature.json")
        if not file.exists():
            return None
        try:
            return self.clock(trial).signature(Signature.model_validate_json(read_bytes(file)))
        except ValidationError as error:
            raise BadInputError(f"{file} can't be read: {first_of(error)}") from None

    def requests(self, trial: str) -> Mapping[str, Requests]:
        """The log of the requests to each drive, by its name; empty where none was kept.

        Times are those of the machine, also on a scale model. Raises BadInputError when the file is damaged.
        """
        return read_requests(self.unaltered(trial, REQUESTS))

    def drop_drafts(self) -> None:
        """Remove what a killed run left half-written."""
        for draft in self._trials.glob(".*"):
            shutil.rmtree(draft)


def _flush(path: Path) -> None:
    with opened(path) as descriptor:
        os.fsync(descriptor)

"""A run as tables for notebooks: nothing is read before it is asked for, and each table once.

Tables are PyArrow's. `table.to_pandas()` and `polars.from_arrow(table)` make them what you are used to, where those are
installed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assay.model.engine import EngineKind
from assay.model.errors import BadInputError
from assay.model.installed import engine_kind, phase_columns, series_kind
from assay.model.quantity import kinds_of
from assay.model.record import Record, Sample
from assay.model.signature import Signature
from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.record.demands import measured_run
from assay.record.folder import Damaged, DamagedRecordError, RunFolder, column_type, read_table
from assay.record.model_time import ModelClock
from assay.record.predictions import predictions_of
from assay.stats.trial_summary import summaries_of

Rows = Iterator[Mapping[str, Any]]


class Run:
    """One run's results. Times are in the unit that the column's name ends in; `trial` is in every table.

    All tables are on one clock: a scale model's is the one that the model stands for. Those that need more of trials
    than their summaries read the records one by one, so that a run of any size fits into memory.

    Raises BadInputError, at once, when the folder is no run. A record that can't be read is in `left_out` and nowhere
    else; a trial's table that can't be read raises BadInputError when it is asked for.
    """

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.plan: Plan = self.folder.plan()

    @cached_property
    def _read(self) -> tuple[list[TrialSummary], list[Damaged]]:
        return summaries_of(self.folder, self.plan)

    @property
    def summaries(self) -> list[TrialSummary]:
        """What judgements need of each trial with a readable record."""
        return self._read[0]

    def records(self) -> Iterator[Record]:
        """All readable records, each read when it is reached; `left_out` then has those that are not."""
        for summary in self.summaries:
            try:
                yield self.folder.record(summary.id)
            except DamagedRecordError as error:
                self.left_out.append(error.damaged)

    @property
    def left_out(self) -> list[Damaged]:
        """Record folders that can't be read, and why."""
        return self._read[1]

    def record(self, trial: str) -> Record:
        """All of one trial's record. Raises BadInputError when it can't be read."""
        return self.folder.record(trial)

    @cached_property
    def predictions(self) -> list[TrialSummary]:
        """Trials that did not run, from the predictors that are plugged in."""
        return predictions_of(measured_run(self.folder, self.plan, self.summaries))

    @cached_property
    def trials(self) -> Any:
        """One row per trial: factors, outcome, `source`, the jobs' seconds, the phases' averages.

        Predicted trials are the last, with source `predicted`, their predictor and the interval of their time.
        """
        return _table(chain(map(_trial_row, self.summaries), map(prediction_row, self.predictions)))

    @cached_property
    def jobs(self) -> Any:
        """One row per job, staging jobs too: its times in milliseconds since the epoch, tasks, phases."""
        return _table(_each(self.records(), _job_rows))

    @cached_property
    def steps(self) -> Any:
        """One row per step of a trial's life."""
        return _table(_each(self.records(), lambda record: (step.model_dump() for step in record.steps)))

    @cached_property
    def verdicts(self) -> Any:
        """One row per check of an output."""
        return _table(
            _each(self.records(), lambda record: (verdict.model_dump(mode="json") for verdict in record.verdicts))
        )

    @cached_property
    def doubts(self) -> Any:
        """One row per doubt of a trial."""
        return _table(
            {"trial": summary.id, **doubt.model_dump()} for summary in self.summaries for doubt in summary.doubts
        )

    @cached_property
    def amounts(self) -> Any:
        """One row per probe's total over a part of a trial, with its basis."""
        return _table(_each(self.records(), lambda record: (amount.model_dump() for amount in record.amounts)))

    @cached_property
    def counters(self) -> Any:
        """One row per counter of a job."""
        return _table(_each(self.records(), _counter_rows))

    @cached_property
    def accesses(self) -> Any:
        """One row per line of the trials' I/O signatures; `probes.md` and `signature.md` tell of the columns."""
        signatures = ((summary.id, self.folder.signature(summary.id)) for summary in self.summaries)
        return _table(
            {"trial": trial, **access.model_dump(mode="json")}
            for trial, signature in signatures
            if isinstance(signature, Signature)
            for access in signature.accesses
        )

    def tasks(self, trials: Sequence[str] | None = None) -> Any:
        """One row per task attempt of some trials, or of all."""
        return self._tables("tasks.parquet", lambda engine: engine.attempt, trials)

    def phases(self, trials: Sequence[str] | None = None) -> Any:
        """One row per task attempt whose log could be read: its finer phases."""
        return self._tables("phases.parquet", lambda engine: engine.log, trials)

    def samples(self, trials: Sequence[str] | None = None, probe: str | None = None) -> Any:
        """One row per reading of some trials' probes, or of one probe: of long runs there are millions."""
        import pyarrow.compute as pc

        wanted = None if probe is None else pc.field("probe") == probe
        return self._tables("samples.parquet", lambda _: Sample, trials, wanted)

    def _tables(
        self, name: str, row: Callable[[EngineKind], type[BaseModel]], trials: Sequence[str] | None, wanted: Any = None
    ) -> Any:
        """One file of some trials, put together, where they have it; columns of several types get doubles or texts.

        `row` is what an engine's rows are; a table without any has the columns of all engines.
        """
        import pyarrow

        kinds = {trial.id: row(engine_kind(trial.engine)) for trial in self.plan.trials}
        found = []
        for trial in [summary.id for summary in self.summaries] if trials is None else trials:
            if trial not in kinds:
                raise BadInputError(f"the run has no trial {trial!r}; `trials` has the names of all")
            table = read_table(self.folder.unaltered(trial, name), wanted)
            if table is not None:
                table = on_clock(table, self.folder.clock(trial), kinds[trial])
                found.append(table.add_column(0, "trial", pyarrow.array([trial] * len(table), pyarrow.string())))
        for kind in dict.fromkeys(kinds.values()):
            columns = [(field, column_type(one.annotation)) for field, one in kind.model_fields.items()]
            found.append(pyarrow.schema([("trial", pyarrow.string()), *columns]).empty_table())
        wider, types = (pyarrow.int64(), pyarrow.float64(), pyarrow.string()), dict[str, Any]()
        for field in chain.from_iterable(table.schema for table in found):
            types[field.name] = max(types.get(field.name, field.type), field.type, key=wider.index)
        schemas = (pyarrow.schema([(name, types[name]) for name in table.column_names]) for table in found)
        alike = [table.cast(schema, safe=False) for table, schema in zip(found, schemas, strict=True)]
        return pyarrow.concat_tables(alike, promote_options="default")

    def __repr__(self) -> str:
        return f"<Run {self.plan.experiment}: {len(self.plan.trials)} trials, {self.folder.path}>"


def on_clock(table: Any, clock: ModelClock, row: type[BaseModel]) -> Any:
    """A trial's file by its model's clock; samples by what each series is of, others by what each column is of."""
    import pyarrow

    if clock.dilation == 1 or not len(table):
        return table
    if "series" in table.column_names:
        names = zip(table["probe"].to_pylist(), table["series"].to_pylist(), strict=True)
        of = {name: series_kind(*name) for name in dict.fromkeys(names)}
        places = zip(table["probe"].to_pylist(), table["series"].to_pylist(), table["value"].to_pylist(), strict=True)
        columns = {
            "time_ms": list(map(clock.moment_ms, table["time_ms"].to_pylist())),
            "value": [clock.value(of[probe, series], value) for probe, series, value in places],
        }
    else:
        columns = {
            name: [clock.value(kind, value) for value in table[name].to_pylist()]
            for name, kind in kinds_of(row).items()
            if name in table.column_names
        }
    for name, column in columns.items():
        place, field = table.column_names.index(name), table.schema.field(name)
        table = table.set_column(place, field, pyarrow.array(column, field.type))
    return table


def _table(rows: Rows) -> Any:
    """With the columns of all rows; without any row there is the trial's column alone."""
    import pyarrow

    found = list(rows)
    names = list(dict.fromkeys(("trial", *(name for row in found for name in row))))
    return pyarrow.table({name: [row.get(name) for row in found] for name in names})


def _each(records: Iterator[Record], rows: Callable[[Record], Rows]) -> Rows:
    return ({"trial": record.trial.id, **row} for record in records for row in rows(record))


def _trial_row(summary: TrialSummary) -> Mapping[str, Any]:
    return {
        "trial": summary.id,
        **summary.factors,
        "repetition": summary.trial.repetition,
        "warm_up": summary.trial.warm_up,
        "status": str(summary.status),
        "outcome": str(summary.outcome),
        "error": summary.error,
        "source": summary.source,
        "struck_out": summary.struck_out,
        "elapsed_s": summary.elapsed_s,
        "run_s": summary.run_s,
        "durable_s": summary.durable_s,
        "submitted_s": summary.submitted_s,
        "staging_submitted_s": summary.staging_submitted_s,
        "outside_jobs_s": summary.outside_jobs_s,
        **phase_columns(summary.trial.engine, summary.phases),
    }


def prediction_row(summary: TrialSummary) -> dict[str, str | float | None]:
    """A predicted trial's line in a table of trials."""
    return {
        "trial": summary.id,
        **summary.factors,
        "source": summary.source,
        "predictor": summary.predictor,
        "like": summary.trial.id,
        "elapsed_s": summary.elapsed_s,
        "elapsed_low_s": summary.low_s,
        "elapsed_high_s": summary.high_s,
        "basis": summary.basis,
        "verdict": summary.verdict,
        "reason": summary.reason,
        "surer": summary.surer,
    }


def _job_rows(record: Record) -> Rows:
    for staging, jobs in ((True, record.staging_jobs), (False, record.jobs)):
        for job in jobs:
            row = job.model_dump(exclude={"stages", "phases", "counters"})
            tasks = {f"{stage.name}_tasks": stage.tasks for stage in job.stages}
            failed = {f"{stage.name}_failed_attempts": stage.failed_attempts for stage in job.stages}
            phases = phase_columns(record.trial.engine, job.phases)
            yield {"staging": staging, **row, **tasks, **failed, "elapsed_s": job.elapsed_s, **phases}


def _counter_rows(record: Record) -> Rows:
    for job in (*record.staging_jobs, *record.jobs):
        for group, values in job.counters.items():
            for counter, value in values.items():
                yield {"job": job.id, "name": job.name, "group": group, "counter": counter, "value": value}

"""Runs of the studies' experiments as the values that they measured, in a file that outlives their folders.

The file has values and no judgements: comparisons are made again whenever it is read.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_serializer

from assay.host.files import UnreadableFileError, read_bytes, replace_text
from assay.model.base import Frozen, Number
from assay.model.errors import BadInputError
from assay.model.fact import Fact, whole_number
from assay.model.naming import bytes_text
from assay.model.record import Record
from assay.model.trial import Plan
from assay.record.reading import first_of
from assay_extras.studies.measured import read
from assay_extras.studies.published import study_experiment
from assay_extras.studies.values import Level, StudyPoint, StudyTable

FILE = "studies.json"
_YEAR_10000_MS = 253_402_300_800_000


class Values(Frozen):
    """What was measured at one point in each repetition, in the point's unit."""

    point: StudyPoint
    repetitions: Mapping[int, Number]

    @field_serializer("point")
    def _fields(self, point: StudyPoint) -> dict[str, Level]:
        """By name, without those that don't apply."""
        return {field: level for field, level in point._asdict().items() if level}


class StudyRun(Frozen):
    """A run of a study's experiment: when its last job ended (milliseconds since the epoch), and on which machine.

    `inputs` has, by the study's word for an input, what stood for it: `generated at 0.006 of YouTube's size`.
    """

    experiment: str
    measured_ms: int = Field(ge=0, lt=_YEAR_10000_MS)
    machine: str
    trials: int
    inputs: Mapping[str, str] = {}
    values: tuple[Values, ...]

    @cached_property
    def measured(self) -> StudyTable:
        """The values by their points."""
        return StudyTable({values.point: values.repetitions for values in self.values}, self.inputs)

    @property
    def day(self) -> str:
        """The day of its last job (UTC): `2026-11-23`."""
        return datetime.fromtimestamp(self.measured_ms / 1000, UTC).date().isoformat()


class StudyRuns(Frozen):
    """What the file has."""

    format: Literal[1] = 1
    runs: tuple[StudyRun, ...]


def study_run(plan: Plan, records: Sequence[Record]) -> StudyRun | None:
    """A run's values; None where it is no study's, or measured nothing that the study has a place for."""
    experiment = study_experiment(plan.experiment)
    if experiment is None:
        return None
    reading = read(records, experiment)
    used = [record for record in records if record.trial.id not in reading.passed_over and not record.trial.zero_delay]
    if not len(reading.measured):
        return None
    return StudyRun(
        experiment=plan.experiment,
        measured_ms=max((job.finished_ms for record in used for job in record.jobs), default=0),
        machine=_machine(used[0].facts),
        trials=len(used),
        inputs=reading.measured.names,
        values=tuple(
            Values(point=point, repetitions=reading.measured.of(point)) for point in reading.measured.where({})
        ),
    )


def _machine(facts: Mapping[str, Fact]) -> str:
    """`AMD EPYC 7763, 2 cores, 24 GiB`."""
    memory = whole_number(facts.get("memory_bytes"))
    cores = facts.get("cores", "?")
    return ", ".join([str(facts.get("cpu", "unknown")), f"{cores} cores", bytes_text(memory) if memory else "? memory"])


def merged(sources: Sequence[Sequence[StudyRun]]) -> list[StudyRun]:
    """The runs of all sources, by experiment; of an experiment that several have only those of the newest source.

    Of two as new the earlier source counts.
    """
    newest: dict[str, tuple[int, list[StudyRun]]] = {}
    for source in sources:
        by_experiment: dict[str, list[StudyRun]] = {}
        for run in source:
            by_experiment.setdefault(run.experiment, []).append(run)
        for name, of_experiment in by_experiment.items():
            measured_ms = max(run.measured_ms for run in of_experiment)
            if name not in newest or measured_ms > newest[name][0]:
                newest[name] = (measured_ms, of_experiment)
    return [run for _, (_, of_experiment) in sorted(newest.items()) for run in of_experiment]


def is_kept(path: Path) -> bool:
    """Whether a path names such a file, or a folder that has it and is no run's."""
    return path.is_file() or ((path / FILE).is_file() and not (path / "plan.json").exists())


def read_kept(path: Path) -> tuple[StudyRun, ...]:
    """The runs in such a file, or in a folder's. Raises BadInputError."""
    file = path / FILE if path.is_dir() else path
    try:
        return StudyRuns.model_validate_json(read_bytes(file)).runs
    except ValidationError as error:
        raise BadInputError(
            f"{file} can't be read: {first_of(error)}; name a run folder, or a {FILE} of `assay studies --to`"
        ) from None


def keep(runs: Sequence[StudyRun], folder: Path) -> None:
    """Write the file into a folder, in one step.

    Raises BadInputError where one is there that has experiments which `runs` has not: they would be lost.
    """
    file = folder / FILE
    try:
        lost = {run.experiment for run in read_kept(file)} - {run.experiment for run in runs}
    except UnreadableFileError as error:
        if not error.missing:
            raise
        lost = set()
    if lost:
        raise BadInputError(
            f"{file} has runs that would be lost ({', '.join(sorted(lost))}): name {folder} among the runs to keep "
            "them, or another folder with --to"
        )
    replace_text(file, StudyRuns(runs=tuple(runs)).model_dump_json(indent=1) + "\n")

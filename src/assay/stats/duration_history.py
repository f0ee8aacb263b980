"""What trials of earlier runs took, from their records: for a plan's time, and for the noise of this machine."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pydantic import ValidationError

from assay.host.files import UnreadableFileError, read_bytes
from assay.model.doubt import Outcome
from assay.model.fact import Fact
from assay.model.record import Status
from assay.model.trial import Trial
from assay.record.reading import content_of

MOST_RECORDS = 500
"""The newest ones are enough for medians, and reading thousands would keep people waiting."""


class TrialDuration(NamedTuple):
    """A finished trial, and how many seconds all of its life took, the cluster's start and the verification too.

    `elapsed_s` is the time of its jobs; None where it doesn't count, as its output is wrong. `facts` are the machine's,
    `run` the folder of its run.
    """

    trial: Trial
    seconds: float
    elapsed_s: float | None = None
    facts: Mapping[str, Fact] = {}
    run: str = ""


class DurationHistory(NamedTuple):
    """Trials of earlier runs, newest first, and the records that could not be read."""

    durations: list[TrialDuration]
    damaged: list[Path]


def read_history(runs: Path) -> DurationHistory:
    """Finished trials of the runs in a folder, the newest runs' first; a folder that is not there has none."""
    history = DurationHistory([], [])
    for trials in sorted(runs.glob("*/trials"), key=_changed, reverse=True):
        for folder in sorted(trials.glob("[!.]*")):
            file = folder / "record.json"
            try:
                record = content_of(read_bytes(file))
                if record["status"] != Status.FINISHED:
                    continue
                totals = record["totals"]
                wrong = any(verdict["outcome"] == Outcome.FAIL for verdict in record["verdicts"])
                duration = TrialDuration(
                    trial=Trial.model_validate(record["trial"]),
                    seconds=sum(step["seconds"] for step in record["steps"]),
                    elapsed_s=None if wrong or totals is None else float(totals["elapsed_s"]),
                    facts=dict(record["facts"]),
                    run=str(trials.parent),
                )
            except (UnreadableFileError, ValueError, KeyError, TypeError, AttributeError, ValidationError):
                history.damaged.append(file)
                continue
            history.durations.append(duration)
            if len(history.durations) == MOST_RECORDS:
                return history
    return history


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


Key = tuple[str, ...]
SINGLE_SPREAD = 0.2
"""By how much equal trials may differ where one alone ran."""


class Expectation(NamedTuple):
    """Seconds: the median over so many earlier trials, and the least and the most of them."""

    seconds: float
    records: int
    least_s: float
    most_s: float
    known: bool = True


class Expected:
    """Medians over earlier trials: of all the same levels where there are any, else of workload, data and media."""

    def __init__(self, took: Iterable[tuple[Trial, float]]) -> None:
        self._seconds: dict[Key, list[float]] = {}
        for trial, seconds in took:
            self.add(trial, seconds)

    def add(self, trial: Trial, seconds: float) -> None:
        """Add a trial's duration."""
        for key in _keys(trial):
            self._seconds.setdefault(key, []).append(seconds)

    def of(self, trial: Trial) -> Expectation | None:
        """Return what a trial can be expected to take; None where no earlier trial is like it."""
        for key in _keys(trial):
            if seconds := self._seconds.get(key):
                spread = SINGLE_SPREAD if len(seconds) == 1 else 0.0
                return Expectation(
                    median(seconds), len(seconds), (1 - spread) * min(seconds), (1 + spread) * max(seconds)
                )
        return None


def _keys(trial: Trial) -> Sequence[Key]:
    """The closest kind of likeness first. A medium of the same name may have been another drive then."""
    media = sorted(medium.model_dump_json() for medium in trial.media)
    about = (
        trial.workload.name, trial.workload.variant, str(sorted(trial.workload.options.items())),
        *(spec.short for spec in trial.workload.together), str(trial.workload.concurrent),
        trial.dataset.model_dump_json(), trial.placement.model_dump_json(), *media,
    )  # fmt: skip
    closer = (
        *about,
        str(sorted(trial.settings.properties.items())),
        str(trial.factors),
        trial.cluster.model_dump_json(),
    )
    return ("all", *closer), ("some", *about)

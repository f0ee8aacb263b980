"""What to type: to run an experiment again, and to learn from a run what it can't tell yet."""

import os
import shlex
from collections.abc import Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

from assay.model.record import Record
from assay.report.gathered import Gathered
from assay.report.text import duration_text
from assay.stats.comparison import Comparison
from assay.stats.noise import EFFECT
from assay.stats.sample import PLACEMENT, counts

MORE = 1.2
"""So much longer than before a round may take, and still fits into the time that is asked for."""


class Further(NamedTuple):
    """So many more repetitions, in about `seconds` all together, would find a difference of 5 %."""

    repetitions: int
    seconds: float

    @property
    def words(self) -> str:
        """One sentence without its end."""
        count = f"{self.repetitions} more repetition{'' if self.repetitions == 1 else 's'}"
        return f"{count} of all trials would find {100 * EFFECT:.0f} %: about {duration_text(self.seconds)}"


def further(records: Sequence[Record], compared: Sequence[Comparison]) -> Further | None:
    """What would tell more of the run's question; None where all is told, or no number of repetitions would do."""
    asked = [one for one in compared if one.factor == PLACEMENT] or compared
    left = [one for one in asked if not one.significant]
    if not left:
        return None
    more = max((one.needed or 0) - one.repetitions for one in left)
    return Further(more, more * _round_s(records)) if more > 0 else None


def _round_s(records: Sequence[Record]) -> float:
    """Seconds of all that one trial of each combination takes, with the cluster's start and the verification."""
    took: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        if counts(record):
            took.setdefault(tuple(record.trial.factors.values()), []).append(sum(one.seconds for one in record.steps))
    return sum(map(median, took.values()))


def run_command(run: Gathered) -> str:
    """The command that makes this run again, in the folder where this one was started; the old one's file is used."""
    return typed("run", _experiment(run), "--out", "runs/again", *run.plan.options)


def compare_command(run: Gathered) -> str:
    """The command that puts both side by side."""
    return typed("compare", str(run.folder or "RUN"), "runs/again")


def further_command(run: Gathered, more: Further) -> str:
    """The command that adds what `more` says."""
    minutes = ceil(MORE * more.seconds / 60)
    given = run.plan.options
    chosen = [part for pair in zip(given[::2], given[1::2], strict=True) if pair[0] == "--only" for part in pair]
    return typed(
        "run", _experiment(run), "--out", str(run.folder or "RUN"), "--resume", *chosen, "--for", f"{minutes}min"
    )


def _experiment(run: Gathered) -> str:
    return str(run.experiment or "EXPERIMENT.yaml")


def typed(*words: str) -> str:
    """A command with these words, as the user called Assay this time."""
    return shlex.join([os.environ.get("ASSAY_COMMAND", "assay"), *words])

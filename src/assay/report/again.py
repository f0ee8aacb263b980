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
from assay.stats.planning import EFFECT, least_repetitions
from assay.stats.questions import Asked
from assay.stats.sample import counts

MORE = 1.2
"""So much longer than before a round may take, and still fits into the time that is asked for."""


class Further(NamedTuple):
    """So many more repetitions, in about `seconds` all together, would tell: 5 %, or anything `at_all`."""

    repetitions: int
    seconds: float
    at_all: bool

    @property
    def words(self) -> str:
        """One sentence without its end."""
        count = f"{self.repetitions} more repetition{'' if self.repetitions == 1 else 's'}"
        if self.at_all:
            return f"no fewer than {count} of all trials can tell anything: about {duration_text(self.seconds)}"
        return f"{count} of all trials would tell {100 * EFFECT:.0f} %: about {duration_text(self.seconds)}"


def further(records: Sequence[Record], compared: Asked) -> Further | None:
    """What would tell more of the run's question; None where all is told, or no number of repetitions would do."""
    left = [one for one in compared.question if not one.told]
    if not left:
        return None
    have = min(one.repetitions for one in left)
    least = least_repetitions(len(compared.all))
    wanted = least if have < least else max((one.needed or 0 for one in left), default=0)
    if wanted <= have:
        return None
    return Further(wanted - have, (wanted - have) * _round_s(records), at_all=have < least)


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

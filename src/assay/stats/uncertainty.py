"""Which combination of factors is known least: where a further repetition says most."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import Trial
from assay.stats.interval import LEAST_VALUES, medians
from assay.stats.sample import counts

PLACEMENT = "placement"
Levels = tuple[tuple[str, str], ...]


class Uncertain(NamedTuple):
    """All placements of a combination of the other factors, one trial of each as it was planned.

    `width` is that of the widest interval of their medians, as a share of the median; infinite below 3 values.
    `values` are the fewest that any of them has, `repetition` is the last one that was planned.
    """

    trials: tuple[Trial, ...]
    width: float
    values: int
    repetition: int


def least_certain(trials: Sequence[Trial], records: Sequence[Record]) -> list[Uncertain]:
    """The combinations of a plan, the least certain first; of those that are equally so the one with fewest values.

    One of which a placement has run and never finished is left out: repeating that tells nothing.
    """
    values: dict[Levels, list[float]] = {}
    tried: set[Levels] = set()
    for record in records:
        if not record.trial.warm_up:
            tried.add(_levels(record.trial))
        if counts(record) and record.totals is not None:
            values.setdefault(_levels(record.trial), []).append(record.totals.elapsed_s)
    widths = _widths(values)
    groups: dict[Levels, dict[Levels, Trial]] = {}
    last: dict[Levels, int] = {}
    for trial in trials:
        if not trial.warm_up:
            others = tuple(item for item in _levels(trial) if item[0] != PLACEMENT)
            groups.setdefault(others, {}).setdefault(_levels(trial), trial)
            last[others] = max(last.get(others, 0), trial.repetition)
    found = [
        Uncertain(
            trials=tuple(own.values()),
            width=max(widths.get(levels, inf) for levels in own),
            values=min(len(values.get(levels, ())) for levels in own),
            repetition=last[others],
        )
        for others, own in groups.items()
        if all(levels in values for levels in own if levels in tried)
    ]
    return sorted(found, key=lambda one: (-one.width, one.values))


def _widths(values: dict[Levels, list[float]]) -> dict[Levels, float]:
    enough = {levels: tuple(own) for levels, own in values.items() if len(own) >= LEAST_VALUES}
    found = {}
    for levels, middle in zip(enough, medians(tuple(enough.values())), strict=True):
        interval = middle.interval
        found[levels] = inf if interval is None else (interval.high - interval.low) / middle.value
    return found


def _levels(trial: Trial) -> Levels:
    return tuple(trial.factors.items())

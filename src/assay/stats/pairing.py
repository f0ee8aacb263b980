"""Which trials are compared with which: pairs of the same repetition, everything equal but one factor."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.model.signature import Array
from assay.stats.interval import LEAST_VALUES
from assay.stats.machine_kind import machine_of
from assay.stats.sample import APART, Levels, Sample, counts, in_order

WORK = ("workload", "dataset", "options")
"""What is computed. More of it takes longer: levels of these are never compared with each other."""

MOST_TIMES_APART = 2.0
"""Trials of one repetition begin at most its own length apart in a run that is not interrupted."""


class Couple(NamedTuple):
    """Two levels' logarithms of elapsed times; `differences` are those of pairs, empty where there are none."""

    factor: str
    base: str
    level: str
    others: Levels
    first: Array
    second: Array
    differences: Array

    @property
    def repetitions(self) -> int:
        """Pairs; trials of the level with fewer, where there are none."""
        return len(self.differences) or min(len(self.first), len(self.second))


def couples_of(found: Sequence[Sample], factor: str, base: str | None, *, every: bool) -> Iterator[Couple]:
    """Each level with the base (the first one, where there is no such level), or each with each other.

    Raises KeyError where a sample has no such factor.
    """
    import numpy as np

    groups: dict[Levels, dict[str, list[Sample]]] = {}
    for sample in found:
        others = tuple(item for item in sample.factors if item[0] != factor)
        groups.setdefault(others, {}).setdefault(sample.level(factor), []).append(sample)
    for others, by_level in groups.items():
        levels = in_order(by_level)
        if base in by_level:
            levels = [base, *(level for level in levels if level != base)]
        for number, first in enumerate(levels[:-1] if every else levels[:1]):
            for second in levels[number + 1 :]:
                one, other = by_level[first], by_level[second]
                yield Couple(
                    factor=factor, base=first, level=second, others=others,
                    first=np.log([sample.elapsed_s for sample in one]),
                    second=np.log([sample.elapsed_s for sample in other]),
                    differences=np.array(_differences(one, other) if factor not in APART else [], float),
                )  # fmt: skip


def _differences(first: Sequence[Sample], second: Sequence[Sample]) -> list[float]:
    """Logarithms of the pairs' ratios; none where so few trials have their pair that most would be lost."""
    from math import log

    one, other = (_by_repetition(found) for found in (first, second))
    pairs = [log(other[key] / time) for key, time in one.items() if key in other]
    return pairs if len(pairs) >= min(LEAST_VALUES, len(first), len(second)) else []


def _by_repetition(found: Sequence[Sample]) -> dict[tuple[int, int], float]:
    """Times by repetition, and by their turn in it where there are several."""
    turns: dict[int, int] = {}
    times = {}
    for one in found:
        turns[one.repetition] = turns.get(one.repetition, 0) + 1
        times[one.repetition, turns[one.repetition]] = one.elapsed_s
    return times


def began_ms(record: Record) -> int:
    """When a trial began, in milliseconds since the epoch; 0 where it does not say."""
    return min((step.started_ms for step in record.steps), default=0)


def parts_apart(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials of one repetition of one run, of the same work, began so far apart that drift tells on them.

    That is further than twice what all trials of that repetition took.
    """
    took_s: dict[int, float] = {}
    began: dict[tuple[int, object], list[int]] = {}
    for record in records:
        repetition, factors = record.trial.repetition, record.trial.factors
        took_s[repetition] = took_s.get(repetition, 0.0) + sum(step.seconds for step in record.steps)
        if counts(record):
            key = (machine_of(record), *(factors[name] for name in WORK))
            began.setdefault((repetition, key), []).append(began_ms(record))
    apart_s = [(repetition, (max(own) - min(own)) / 1000) for (repetition, _), own in began.items()]
    far = {repetition: seconds for repetition, seconds in apart_s if seconds > MOST_TIMES_APART * took_s[repetition]}
    if not far:
        return []
    repetitions = f"{len(far)} repetition{'' if len(far) == 1 else 's'}"
    return [
        Doubt(
            kind="parts-apart",
            what=f"trials of {repetitions} ran in parts, up to {_long(max(far.values()))} apart",
            why="what is compared there did not run close in time: what changed in between looks like a difference",
            cure="let all levels that are compared run in one go",
        )
    ]


def _long(seconds: float) -> str:
    """A length of time for people, in its largest unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:.0f} seconds"

"""A doubt about processors that were not equally fast: the same jobs took unequal processor time."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import PROCESSOR_TIME, TASK_COUNTERS, Record
from assay.stats.machine_kind import machine_of
from assay.stats.sample import counts

MOST_TIMES = 1.25
"""How many times as much processor time one of two trials that do the same may take before it is told."""

LEAST_S = 5.0
"""Processor time below which starting the JVMs settles how much a trial took."""


class _Used(NamedTuple):
    seconds: float
    trial: str


def processors_varied(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials of one combination took far more processor time once than at another time; else none.

    It names the two that are farthest apart.
    """
    combined: dict[object, list[_Used]] = {}
    for record in records:
        used = _used(record)
        if used is not None:
            combined.setdefault((machine_of(record), *sorted(record.trial.factors.items())), []).append(used)
    extremes = [(min(own), max(own)) for own in combined.values()]
    if not extremes:
        return []
    least, most = max(extremes, key=lambda pair: pair[1].seconds / pair[0].seconds)
    times = most.seconds / least.seconds
    if times <= MOST_TIMES:
        return []
    return [
        Doubt(
            kind="processors-varied",
            what=f"the same jobs took {times:.1f} times as much processor time once "
            f"({most.trial}, {most.seconds:.0f} s) as at another time ({least.trial}, {least.seconds:.0f} s)",
            why="a host shares its processors out among guests, and processors clock down: that slows the work and not "
            "the drive, so intervals are wide and small differences can't be told",
            cure="repeat where, or when, the processors are your own; more repetitions narrow the intervals too",
        )
    ]


def _used(record: Record) -> _Used | None:
    """The processor time of a trial's tasks; None where it does not count, or where it is too short or unknown."""
    if not counts(record) or record.totals is None:
        return None
    seconds = record.totals.counters.get(TASK_COUNTERS, {}).get(PROCESSOR_TIME, 0) / 1000
    return _Used(seconds, record.trial.id) if seconds >= LEAST_S else None

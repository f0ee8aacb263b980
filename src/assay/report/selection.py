"""What a page shows of a large run: what is most telling; the rest is counted and left to the CSV."""

from collections.abc import Collection, Sequence
from math import log

from assay.model.doubt import Doubt, Outcome
from assay.model.record import Record
from assay.stats.summary import Group, Row

MOST_ROWS = 150
MOST_BARS = 60
MOST_TRIALS_TOLD = 40
MOST_OF_A_KIND = 10
"""Combinations in the table and in charts, trials with their jobs, and doubts of one kind: more is not read."""


def rows_shown(rows: Sequence[Row], most: int = MOST_ROWS) -> list[Row]:
    """At most so many, whole groups, in their order.

    Of each workload in turn the group that tells most: with a failure, then with the largest difference that is told,
    then with the largest at all. A group that is larger than all the room is cut.
    """
    if len(rows) <= most:
        return list(rows)
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    by_work: dict[tuple[str, str], list[Group]] = {}
    for group in sorted(groups, key=lambda one: _telling(groups[one]), reverse=True):
        by_work.setdefault((group.workload, group.dataset), []).append(group)
    kept: set[Group] = set()
    room = most
    for rank in range(max(map(len, by_work.values()))):
        for own in by_work.values():
            if rank < len(own) and len(groups[own[rank]]) <= room:
                kept.add(own[rank])
                room -= len(groups[own[rank]])
    return [row for row in rows if row.group in kept] or list(rows[:most])


def _telling(rows: Sequence[Row]) -> tuple[bool, float, float]:
    distances = [(abs(log(row.ratio)), row) for row in rows if row.ratio]
    told = [far for far, row in distances if row.comparison and row.comparison.significant]
    return (
        any(row.outcome is Outcome.FAIL for row in rows),
        max(told, default=0.0),
        max((far for far, _ in distances), default=0.0),
    )


def trials_shown(
    records: Sequence[Record], close: Collection[str], odd: Collection[str], most: int = MOST_TRIALS_TOLD
) -> list[str]:
    """The ids of at most so many, in their order: those drawn, failed or far off come before all others."""
    ids = [record.trial.id for record in records]
    if len(ids) <= most:
        return ids
    failed = [record.trial.id for record in records if record.outcome is not Outcome.PASS]
    wanted = [*[one for one in ids if one in close], *failed, *[one for one in ids if one in odd], *ids]
    kept = set(list(dict.fromkeys(wanted))[:most])
    return [one for one in ids if one in kept]


def by_kind(doubts: Sequence[Doubt]) -> list[tuple[Doubt, list[Doubt], int]]:
    """Doubts of each kind: the first, some others, and how many more there are besides."""
    kinds: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        kinds.setdefault(doubt.kind, []).append(doubt)
    return [(own[0], own[1 : MOST_OF_A_KIND + 1], max(0, len(own) - 1 - MOST_OF_A_KIND)) for own in kinds.values()]

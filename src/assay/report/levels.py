"""The factors of a run that tell its combinations apart, for filters and for labels."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.stats.sample import MACHINE, PLACEMENT, in_order
from assay.stats.summary import Row, varying

MOST_LEVELS = 24
"""More boxes than that are longer than what they would hide."""


class Filter(NamedTuple):
    """One factor that a reader can pick levels of. `number` is its place in the rows' marks."""

    number: int
    name: str
    levels: tuple[str, ...]


def levels_of(row: Row) -> dict[str, str]:
    """A combination's factors by name, the placement with them."""
    group = {name: str(level) for name, level in dict(row.group).items()}
    return {**group, "placement": row.placement}


def filters_of(rows: Sequence[Row]) -> list[Filter]:
    """Workload, placement and what else tells rows apart, without factors of so many levels that no one would pick."""
    every = [levels_of(row) for row in rows]
    names = ("workload", *varying(rows), "placement")
    several = [(name, in_order(levels.get(name, "") for levels in every)) for name in names]
    kept = [(name, levels) for name, levels in several if 1 < len(levels) <= MOST_LEVELS]
    return [Filter(number, name, tuple(levels)) for number, (name, levels) in enumerate(kept)]


def marks_of(filters: Sequence[Filter], levels: Mapping[str, str]) -> str:
    """What filters know a part of the page by: `f0-1 f2-0`, a factor's number and its level's."""
    return " ".join(
        f"f{one.number}-{one.levels.index(levels[one.name])}"
        for one in filters
        if one.name in levels and levels[one.name] in one.levels
    )


def label_factors(rows: Sequence[Row]) -> list[str]:
    """The factors in which rows of one workload and data set differ, the placement last: names for labels."""
    several = len({row.placement for row in rows}) > 1
    return [*(name for name in varying(rows) if name != "dataset"), *([PLACEMENT] if several else [])]


def label_of(row: Row, names: Sequence[str]) -> str:
    """A combination in a few words, by some of its factors; of a machine its letter."""
    levels = levels_of(row)
    levels[MACHINE] = f"machine {levels.get(MACHINE, '').partition(' ')[0]}"
    return ", ".join(level for name in names if (level := levels.get(name, "")))

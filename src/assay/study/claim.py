"""What statements are made of: small claims over a table of values, each with what speaks for and against it.

A claim looks at every place of the table that it can be seen at. It never guesses: where a value is missing, or the
difference is within noise, it says so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal, Protocol

from assay.model.base import Frozen
from assay.study.difference import LEAST_S, SAME_SHARE, Difference, Truth, difference
from assay.study.point import Field, Level, Measured, Point, level_text

Conditions = Mapping[Field, Level | tuple[Level, ...]]
Relation = Literal["less", "much less", "at most", "same", "about", "most of"]
HALF = 0.5
"""`much less` is less than half, `most of` more than half."""
LEAST_LEVELS = 3
"""Fewer are no steps and no curve."""
SAME: Mapping[Relation, float] = {"same": SAME_SHARE, "about": 0.2}
"""By how much of a share two values may differ that are said to be so."""
ASKED: Mapping[Relation, str] = {
    "much less": ", below 0.5?", "at most": f", {1 + SAME_SHARE:g} at most?", "most of": ", above 0.5?",
    **{relation: f", within {100 * share:g} %?" for relation, share in SAME.items()},
}  # fmt: skip
"""What of a ratio is asked, where it is more than whether it is below 1."""
LEAST_OF = {"throughput": 0.0, "busy": 1.0, "iowait": 1.0}
"""What changes of a metric count, in its own unit, where that is not seconds."""
LARGEST, SMALLEST = "largest", "smallest"
"""Instead of a level: the largest or smallest that was measured at that place."""


class Finding(Frozen):
    """One place of the table: what was seen there, and whether it speaks for the claim."""

    text: str
    truth: Truth


class Claim(Protocol):
    """A part of a statement."""

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each place at which the claim can be seen; none where the run does not speak of it."""


def where(**conditions: Any) -> Conditions:
    """The places that a claim is of: a level, or some levels, for each field that matters."""
    return conditions  # type: ignore[return-value]


def judged(relation: Relation, found: Difference) -> Truth:
    """Whether the second of two values stands to the first as the relation says."""
    if relation in SAME:
        return found.within(SAME[relation])
    if relation == "much less":
        return _much_less(found)
    if relation == "most of":
        return "yes" if found.bounds[0] > HALF else "no" if found.bounds[1] < HALF else "unclear"
    if relation == "at most" and found.ratio is not None:
        low, high = found.bounds
        more = low > 1 + SAME_SHARE and found.direction > 0
        return "yes" if high <= 1 + SAME_SHARE or found.direction < 0 else "no" if more else "unclear"
    return "yes" if found.direction < 0 else "no" if found.direction > 0 else "unclear"


def _much_less(found: Difference) -> Truth:
    """Of a first value that is so small that no fall of it would count, nothing can be told."""
    low, high = found.bounds
    if found.direction < 0 and (found.second == 0 if found.ratio is None else high < HALF):
        return "yes"
    return "no" if low > HALF and found.first * (1 - HALF) >= found.least else "unclear"


@dataclass(frozen=True)
class Compare:
    """The value at `level` stands in a relation to that at `base`, all else equal: `less` is faster for times."""

    field: Field
    level: Level
    relation: Relation
    base: Level
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each pair of points."""
        for group in by_level(measured, self.field, self.where):
            level, base = (resolved(one, group) for one in (self.level, self.base))
            found = beside(measured, group, base, level)
            if found is not None and level != base:
                yield _finding(self.relation, found, group[base].told(self.field), self.field, (level, base))


@dataclass(frozen=True)
class Steps:
    """From each of at least 3 levels of a field to the next higher one the value falls."""

    field: Field
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each step."""
        for group in by_level(measured, self.field, self.where):
            levels = sorted(group, key=float)
            for base, level in pairwise(levels) if len(levels) >= LEAST_LEVELS else ():
                found = beside(measured, group, base, level)
                if found is not None:
                    yield _finding("less", found, group[base].told(self.field), self.field, (level, base))


@dataclass(frozen=True)
class Flat:
    """Over all levels of a field the value stays the same: its largest and smallest are within the same share.

    Those two are picked from all pairs of levels, so that their interval is that of so many comparisons.
    """

    field: Field
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each group of points that differ in the field alone."""
        for group in by_level(measured, self.field, self.where):
            middles = {level: median(measured.of(point).values()) for level, point in group.items()}
            if len(middles) < 2:
                continue
            least, *_, most = sorted(middles, key=middles.__getitem__)
            picked_from = len(middles) * (len(middles) - 1) // 2
            found = beside(measured, group, least, most, picked_from)
            if found is not None:
                yield _finding("same", found, group[least].told(self.field), self.field, (most, least))


def by_level(measured: Measured, field: Field, conditions: Conditions) -> list[dict[Level, Point]]:
    """Points that differ in one field alone, by its levels."""
    found: dict[Point, dict[Level, Point]] = {}
    for point in measured.where(conditions):
        level: Level = getattr(point, field)
        found.setdefault(point.at(field, "" if isinstance(level, str) else 0), {})[level] = point
    return list(found.values())


def resolved(level: Level, group: Mapping[Level, Point]) -> Level:
    """The level itself, or the largest or smallest that was measured."""
    if level not in (LARGEST, SMALLEST):
        return level
    return (max if level == LARGEST else min)(group, key=float)


def beside(
    measured: Measured, group: Mapping[Level, Point], base: Level, level: Level, tests: int = 1
) -> Difference | None:
    """The second of two levels of a group relative to the first; None where one is missing."""
    if base not in group or level not in group:
        return None
    least = LEAST_OF.get(group[base].metric, LEAST_S)
    return difference(measured.of(group[base]), measured.of(group[level]), least, tests)


def _finding(relation: Relation, found: Difference, place: str, field: Field, levels: tuple[Level, Level]) -> Finding:
    level, base = (level_text(field, one) for one in levels)
    text = f"{place}: {level} / {base} = {found.words}{ASKED.get(relation, '')}"
    return Finding(text=text, truth=judged(relation, found))

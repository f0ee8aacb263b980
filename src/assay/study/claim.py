"""What statements are made of: small claims over a table of values, each with what speaks for and against it.

A claim looks at every place of the table that it can be seen at. It never guesses: where a value is missing, or the
difference is within noise, it says so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median
from typing import Any, Literal, Protocol

from assay.model.base import Frozen
from assay.study.difference import LEAST_S, SAME_SHARE, Difference, Truth, difference
from assay.study.point import Field, Level, Measured, Point, Repeated, level_text

Conditions = Mapping[Field, Level | tuple[Level, ...]]
Relation = Literal["less", "much less", "at most", "same", "about", "most of"]
HALF = 0.5
"""`much less` is less than half, `most of` more than half."""
LEAST_LEVELS = 3
"""Fewer are no steps and no curve."""
SAME: Mapping[Relation, float] = {"same": SAME_SHARE, "about": 0.2}
"""By how much of a share two values may differ that are said to be so."""
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
    if relation == "at most" and found.bounds[1] <= 1 + SAME_SHARE:
        return "yes"
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
            level, base = (_resolved(one, group) for one in (self.level, self.base))
            found = _beside(measured, group, base, level)
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
                found = _beside(measured, group, base, level)
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
            found = _beside(measured, group, least, most, picked_from)
            if found is not None:
                yield _finding("same", found, group[least].told(self.field), self.field, (most, least))


@dataclass(frozen=True)
class Effect:
    """What a change of `field` from `base` to `level` does at `across = more` beside what it does at `across = less`.

    `more gain`: the ratio of the two values is smaller at `more`; `same gain`: the ratios are the same; `more saved`:
    more is taken off the value, in its own unit, which also tells of values that come down to almost nothing; `more
    apart`: the ratio is further from 1, either way.
    """

    field: Field
    base: Level
    level: Level
    across: Field
    more: Level
    less: Level
    where: Conditions
    relation: Literal["more gain", "same gain", "more saved", "more apart"] = "more gain"

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each place at which all four values are there."""
        for group in by_level(measured, self.across, {**self.where, self.field: self.base}):
            more, less = (_resolved(one, group) for one in (self.more, self.less))
            if more == less or more not in group or less not in group:
                continue
            at_less, at_more = (self._changes(measured, group[one]) for one in (less, more))
            found = difference(at_less, at_more, LEAST_S if self.relation == "more saved" else 0.0)
            if found is not None:
                level, base = (level_text(self.field, one) for one in (self.level, self.base))
                change = f"{level} over {base}" + (" or the other way" if self.relation == "more apart" else "")
                shown = ", ".join(
                    f"{level_text(self.across, level)} {self._shown(value)}"
                    for level, value in ((more, found.second), (less, found.first))
                )
                place = group[more].told(self.across, self.field)
                truth = judged("same" if self.relation == "same gain" else "less", found)
                yield Finding(text=f"{place}: {change}: {shown}", truth=truth)

    def _changes(self, measured: Measured, base: Point) -> Repeated:
        first, second = measured.of(base), measured.of(base.at(self.field, self.level))
        shared = first.keys() & second.keys()
        if self.relation == "more saved":
            return {one: second[one] - first[one] for one in shared}
        ratios = {one: second[one] / first[one] for one in shared if first[one] > 0}
        if self.relation == "more apart":
            return {one: min(ratio, 1 / ratio) for one, ratio in ratios.items() if ratio > 0}
        return ratios

    def _shown(self, value: float) -> str:
        return f"{value:+.1f} s" if self.relation == "more saved" else f"{value:.2f}"


@dataclass(frozen=True)
class Spread:
    """Over `field` the value varies much less at `across = less` than at `more`, if levels can be told apart at all."""

    field: Field
    across: Field
    less: Level
    more: Level
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each place with both."""
        for small in by_level(measured, self.field, {**self.where, self.across: self.less}):
            large = {level: point.at(self.across, self.more) for level, point in small.items()}
            at_more, at_less = (_spread(measured, group) for group in (large, small))
            found = difference(at_more, at_less) if len(small) > 1 else None
            if found is not None:
                place = next(iter(small.values())).told(self.across, self.field)
                text = (
                    f"{place}: slowest over fastest: {level_text(self.across, self.less)} {100 * found.second:+.0f} %, "
                    f"{level_text(self.across, self.more)} {100 * found.first:+.0f} %"
                )
                if any(_told_apart(measured, group) for group in (large, small)):
                    yield Finding(text=text, truth=judged("much less", found))
                else:
                    yield Finding(text=f"{text}, no more than noise", truth="unclear")


def _told_apart(measured: Measured, group: Mapping[Level, Point]) -> bool:
    """Whether any two levels differ by more than noise; each pair's interval is the wider for their number."""
    pairs = list(combinations(group, 2))
    return any(one.direction for pair in pairs if (one := _beside(measured, group, *pair, len(pairs))))


def _spread(measured: Measured, group: Mapping[Level, Point]) -> Repeated:
    """Of each repetition that has all levels: by how much its largest value exceeds its smallest, as a share."""
    every = [measured.of(point) for point in group.values()]
    shared = set.intersection(*(set(one) for one in every))
    values = {one: [repeated[one] for repeated in every] for one in shared}
    return {one: max(own) / min(own) - 1 for one, own in values.items() if min(own) > 0}


def by_level(measured: Measured, field: Field, conditions: Conditions) -> list[dict[Level, Point]]:
    """Points that differ in one field alone, by its levels."""
    found: dict[Point, dict[Level, Point]] = {}
    for point in measured.where(conditions):
        level: Level = getattr(point, field)
        found.setdefault(point.at(field, "" if isinstance(level, str) else 0), {})[level] = point
    return list(found.values())


def _resolved(level: Level, group: Mapping[Level, Point]) -> Level:
    if level not in (LARGEST, SMALLEST):
        return level
    return (max if level == LARGEST else min)(group, key=float)


def _beside(
    measured: Measured, group: Mapping[Level, Point], base: Level, level: Level, tests: int = 1
) -> Difference | None:
    if base not in group or level not in group:
        return None
    least = LEAST_OF.get(group[base].metric, LEAST_S)
    return difference(measured.of(group[base]), measured.of(group[level]), least, tests)


def _finding(relation: Relation, found: Difference, place: str, field: Field, levels: tuple[Level, Level]) -> Finding:
    level, base = (level_text(field, one) for one in levels)
    return Finding(text=f"{place}: {level} / {base} = {found.words}", truth=judged(relation, found))

"""What statements are made of: small claims over a table of values, each with what speaks for and against it.

A claim looks at every place of the table that it can be seen at. It never guesses: where a value is missing, or the
difference is within noise, it says so. A statement is some claims together, each with how many of its places must hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise
from statistics import median
from typing import Any, Literal, NamedTuple, Protocol, get_args

from assay.model.base import Frozen
from assay_extras.studies.values import (
    LEAST_PAIRS,
    LEAST_S,
    SAME_SHARE,
    Difference,
    Field,
    Level,
    Repeated,
    StudyPoint,
    StudyTable,
    Truth,
    difference,
    interval,
    least_change,
)

Conditions = Mapping[Field, Level | tuple[Level, ...]]
Quantifier = Literal["every", "mostly", "some"]
Relation = Literal["less", "much less", "far less", "hardly any", "at most", "same", "about", "most of"]
HALF, QUARTER, TENTH = 0.5, 0.25, 0.1
"""`much less` is less than half, `most of` more than half, `hardly any` less than a tenth.

`far less` is less than a quarter: much less than what the set-up alone makes half as much.
"""
LEAST_LEVELS = 3
"""Fewer are no steps and no curve."""
SAME: Mapping[Relation, float] = {"same": SAME_SHARE, "about": 0.2}
"""By how much of a share two values may differ that are said to be so."""
ASKED: Mapping[Relation, str] = {
    "much less": ", below 0.5?", "far less": ", below 0.25?", "hardly any": ", below 0.1?",
    "at most": f", {1 + SAME_SHARE:g} at most?", "most of": ", above 0.5?",
    **{relation: f", within {100 * share:g} %?" for relation, share in SAME.items()},
}  # fmt: skip
"""What of a ratio is asked, where it is more than whether it is below 1."""
FIELDS: tuple[Field, ...] = get_args(Field)
LARGEST, SMALLEST = "largest", "smallest"
"""Instead of a level: the largest or smallest that was measured at that place."""


class Observation(Frozen):
    """One place of the table: what was seen there, and whether it speaks for the claim.

    `ratios` are the least and the most of single pairs, where it is seen by one ratio.
    """

    text: str
    truth: Truth
    ratios: tuple[float, float] | None = None


class Claim(Protocol):
    """A part of a statement."""

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each place at which the claim can be seen; none where the run does not speak of it."""


def where(**conditions: Any) -> Conditions:
    """The places that a claim is of: a level, or some levels, for each field that matters."""
    return conditions  # type: ignore[return-value]


def of(places: Conditions, **more: Any) -> Conditions:
    """Some places, narrowed down."""
    return {**places, **where(**more)}


def truth_of(relation: Relation, change: Difference) -> Truth:
    """Whether the second of two values stands to the first as the relation says."""
    if relation in SAME:
        return change.within(SAME[relation])
    if relation in {"much less", "far less"}:
        return _much_less(change, HALF if relation == "much less" else QUARTER)
    if relation == "hardly any":
        low, high = change.bounds
        none = change.second == 0 < change.first and change.pairs >= LEAST_PAIRS
        return "yes" if none or high < TENTH else "no" if low > TENTH else "unclear"
    if relation == "most of":
        return "yes" if change.bounds[0] > HALF else "no" if change.bounds[1] < HALF else "unclear"
    if relation == "at most" and change.ratio is not None:
        low, high = change.bounds
        more = low > 1 + SAME_SHARE and change.direction > 0
        return "yes" if high <= 1 + SAME_SHARE or change.direction < 0 else "no" if more else "unclear"
    return "yes" if change.direction < 0 else "no" if change.direction > 0 else "unclear"


def _much_less(change: Difference, share: float) -> Truth:
    """Of a first value that is so small that no fall of it would count, nothing can be told."""
    low, high = change.bounds
    if change.direction < 0 and (change.second == 0 if change.ratio is None else high < share):
        return "yes"
    return "no" if low > share and change.first * (1 - share) >= change.least else "unclear"


@dataclass(frozen=True)
class Compare:
    """The value at `level` stands in a relation to that at `base`, all else equal: `less` is faster for times."""

    field: Field
    level: Level
    relation: Relation
    base: Level
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each pair of points."""
        for group in by_level(measured, self.field, self.where):
            level, base = (resolved(named_level, group) for named_level in (self.level, self.base))
            compared = beside(measured, group, base, level)
            if compared is not None and level != base:
                yield _finding(
                    measured,
                    self.relation,
                    compared,
                    measured.label(group[base], self.field),
                    self.field,
                    (level, base),
                )


def against(field: Field, level: Level, relation: Relation, base: Level, places: Conditions, **more: Any) -> Claim:
    """One level of a field beside another, in some of the places."""
    return Compare(field, level, relation, base, of(places, **more))


@dataclass(frozen=True)
class Steps:
    """From each of at least 3 levels of a field to the next higher one the value falls."""

    field: Field
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each step."""
        for group in by_level(measured, self.field, self.where):
            levels = sorted(group, key=float)
            for base, level in pairwise(levels) if len(levels) >= LEAST_LEVELS else ():
                compared = beside(measured, group, base, level)
                if compared is not None:
                    yield _finding(
                        measured, "less", compared, measured.label(group[base], self.field), self.field, (level, base)
                    )


@dataclass(frozen=True)
class Flat:
    """Over all levels of a field the value stays the same: its largest and smallest are within the same share.

    Those two are picked from all pairs of levels, so that their interval is that of so many comparisons.
    """

    field: Field
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each group of points that differ in the field alone."""
        for group in by_level(measured, self.field, self.where):
            middles = {level: median(measured.of(point).values()) for level, point in group.items()}
            if len(middles) < 2:
                continue
            least, *_, most = sorted(middles, key=middles.__getitem__)
            picked_from = len(middles) * (len(middles) - 1) // 2
            compared = beside(measured, group, least, most, picked_from)
            if compared is not None:
                yield _finding(
                    measured, "same", compared, measured.label(group[least], self.field), self.field, (most, least)
                )


def by_level(measured: StudyTable, field: Field, conditions: Conditions) -> list[dict[Level, StudyPoint]]:
    """Points that differ in one field alone, by its levels."""
    groups_by_point: dict[StudyPoint, dict[Level, StudyPoint]] = {}
    for point in measured.where(conditions):
        level: Level = getattr(point, field)
        groups_by_point.setdefault(point.at(field, "" if isinstance(level, str) else 0), {})[level] = point
    return list(groups_by_point.values())


def resolved(level: Level, group: Mapping[Level, StudyPoint]) -> Level:
    """The level itself, or the largest or smallest that was measured."""
    if level not in (LARGEST, SMALLEST):
        return level
    return (max if level == LARGEST else min)(group, key=float)


def beside(
    measured: StudyTable, group: Mapping[Level, StudyPoint], base: Level, level: Level, tests: int = 1
) -> Difference | None:
    """The second of two levels of a group relative to the first; None where one is missing."""
    if base not in group or level not in group:
        return None
    return measured.difference(group[base], group[level], least_change(group[base].metric), tests)


def _finding(
    table: StudyTable, relation: Relation, compared: Difference, label: str, field: Field, levels: tuple[Level, Level]
) -> Observation:
    level, base = (table.level_text(field, named_level) for named_level in levels)
    text = f"{label}: {level} / {base} = {compared.words}{ASKED.get(relation, '')}"
    return Observation(text=text, truth=truth_of(relation, compared), ratios=compared.ratios)


@dataclass(frozen=True)
class Interaction:
    """What a change of `field` from `base` to `level` does at `across = more` beside what it does at `across = less`.

    `more gain`: the ratio of the two values is smaller at `more`; `same gain`: the ratios are the same; `more saved`:
    more is taken off the value, in its own unit, which also tells of values that come down to almost nothing; `more
    apart`: the ratio is further from 1, either way. Where neither change can be told from noise, nothing is.
    """

    field: Field
    base: Level
    level: Level
    across: Field
    more: Level
    less: Level
    where: Conditions
    relation: Literal["more gain", "same gain", "more saved", "more apart"] = "more gain"

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each place at which all four values are there."""
        for group in by_level(measured, self.across, {**self.where, self.field: self.base}):
            more, less = (resolved(named_level, group) for named_level in (self.more, self.less))
            if more == less or more not in group or less not in group:
                continue
            at_less, at_more = (self._changes(measured, group[named_level]) for named_level in (less, more))
            gains = difference(at_less, at_more, LEAST_S if self.relation == "more saved" else 0.0)
            if gains is not None:
                level, base = (measured.level_text(self.field, named_level) for named_level in (self.level, self.base))
                change = f"{level} over {base}" + (" or the other way" if self.relation == "more apart" else "")
                shown = ", ".join(
                    f"{measured.level_text(self.across, level)} {self._shown(value)}"
                    for level, value in ((more, gains.second), (less, gains.first))
                )
                text = f"{measured.label(group[more], self.across, self.field)}: {change}: {shown}"
                if any(self._tells(measured, group[named_level]) for named_level in (less, more)):
                    truth = truth_of("same" if self.relation == "same gain" else "less", gains)
                    yield Observation(text=text, truth=truth)
                else:
                    yield Observation(text=f"{text}, {_no_more(gains)}", truth="unclear")

    def _tells(self, measured: StudyTable, base: StudyPoint) -> bool:
        """Whether the change does anything there; of two places either would do, so that intervals are wider."""
        group = {self.base: base, self.level: base.at(self.field, self.level)}
        compared = beside(measured, group, self.base, self.level, tests=2)
        return compared is not None and compared.direction != 0

    def _changes(self, measured: StudyTable, base: StudyPoint) -> Repeated:
        first, second = measured.of(base), measured.of(base.at(self.field, self.level))
        shared = first.keys() & second.keys()
        if self.relation == "more saved":
            return {repetition: second[repetition] - first[repetition] for repetition in shared}
        ratios = {repetition: second[repetition] / first[repetition] for repetition in shared if first[repetition] > 0}
        if self.relation == "more apart":
            return {repetition: min(ratio, 1 / ratio) for repetition, ratio in ratios.items() if ratio > 0}
        return ratios

    def _shown(self, value: float) -> str:
        return f"{round(value, 1) or 0.0:+.1f} s" if self.relation == "more saved" else f"{value:.2f}"


@dataclass(frozen=True)
class SpreadGap:
    """Over `field` the value varies much less at `across = less` than at `more`, if levels can be told apart at all."""

    field: Field
    across: Field
    less: Level
    more: Level
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each place with both."""
        for small in by_level(measured, self.field, {**self.where, self.across: self.less}):
            large = {level: point.at(self.across, self.more) for level, point in small.items()}
            at_more, at_less = (_spread(measured, group) for group in (large, small))
            spreads = difference(at_more, at_less) if len(small) > 1 else None
            if spreads is not None:
                label = measured.label(next(iter(small.values())), self.across, self.field)
                less, more = (measured.level_text(self.across, named_level) for named_level in (self.less, self.more))
                text = (
                    f"{label}: slowest over fastest: {less} {100 * spreads.second:+.0f} %, "
                    f"{more} {100 * spreads.first:+.0f} %"
                )
                if any(_distinct(measured, group) for group in (large, small)):
                    yield Observation(text=text, truth=truth_of("much less", spreads))
                else:
                    yield Observation(text=f"{text}, {_no_more(spreads)}", truth="unclear")


def _no_more(compared: Difference) -> str:
    return "no more than noise" if compared.pairs >= LEAST_PAIRS else "too few repetitions to tell"


def _distinct(measured: StudyTable, group: Mapping[Level, StudyPoint]) -> bool:
    """Whether any two levels differ by more than noise; each pair's interval is the wider for their number."""
    pairs = list(combinations(group, 2))
    return any(compared.direction for pair in pairs if (compared := beside(measured, group, *pair, len(pairs))))


def _spread(measured: StudyTable, group: Mapping[Level, StudyPoint]) -> Repeated:
    """Of each repetition that has all levels: by how much its largest value exceeds its smallest, as a share."""
    every = [measured.of(point) for point in group.values()]
    shared = set.intersection(*(set(repeated_values) for repeated_values in every))
    values = {repetition: [repeated[repetition] for repeated in every] for repetition in shared}
    return {repetition: max(times) / min(times) - 1 for repetition, times in values.items() if min(times) > 0}


ON_LINE_SHARE, OFF_LINE_SHARE = 0.15, 0.3
STEEPER = 1.25
NEAR = 0.1
LIKE_SHARE = 0.25


class Curve(NamedTuple):
    """Values by a number, in its order; those of the repetitions that have all of them."""

    places: list[float]
    values: list[Repeated]

    @property
    def ends(self) -> Difference | None:
        """The last beside the first."""
        return difference(self.values[0], self.values[-1], LEAST_S)

    def slope(self, begin: int) -> Repeated:
        """From one value to the next, in each repetition."""
        run = self.places[begin + 1] - self.places[begin]
        first, second = self.values[begin], self.values[begin + 1]
        return {repetition: (second[repetition] - first[repetition]) / run for repetition in first}

    def off(self, index: int) -> list[float]:
        """How far a value is off the line between the ends, in each repetition; in that value's unit."""
        share = (self.places[index] - self.places[0]) / (self.places[-1] - self.places[0])
        first, last = self.values[0], self.values[-1]
        return [
            value - first[repetition] - share * (last[repetition] - first[repetition])
            for repetition, value in self.values[index].items()
        ]


@dataclass(frozen=True)
class StraightLine:
    """The values fall on the straight line between the first level's and the last's, nearly.

    A value that is clearly off by more than 15 % of the difference between these two is not on the line; if all are
    clearly off by less than 30 %, they are. Where no difference of the two can be told there is no line to be on.
    """

    field: Field
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each curve of at least 3 levels."""
        for label, curve in _curves(measured, self.field, self.where):
            ends = curve.ends
            if ends is None:
                continue
            text = f"{label}: from {ends.first:.3g} to {ends.second:.3g}"
            if not ends.direction:
                yield Observation(text=f"{text}, no more than noise", truth="unclear")
                continue
            inner = range(1, len(curve.places) - 1)
            most = max(abs(median(curve.off(index)) / ends.change) for index in inner)
            known = [tuple(off / abs(ends.change) for off in interval(curve.off(index), len(inner))) for index in inner]
            yield Observation(text=f"{text}, at most {100 * most:.0f} % off the line", truth=_on_line(known))


def _on_line(offs: list[tuple[float, ...]]) -> Truth:
    """By the intervals of how far values are off, as shares of the line's height."""
    if any(low > ON_LINE_SHARE or high < -ON_LINE_SHARE for low, high in offs):
        return "no"
    return "yes" if all(low >= -OFF_LINE_SHARE and high <= OFF_LINE_SHARE for low, high in offs) else "unclear"


@dataclass(frozen=True)
class Growth:
    """The last part of a curve is as steep as the first (`linear`), or steeper by a quarter (`faster`)."""

    field: Field
    shape: Literal["linear", "faster"]
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each curve of at least 3 levels."""
        for label, curve in _curves(measured, self.field, self.where):
            slopes = difference(curve.slope(0), curve.slope(len(curve.places) - 2))
            if slopes is None or slopes.ratio is None:
                yield Observation(text=f"{label}: its parts do not all rise", truth="unclear")
                continue
            text = f"{label}: the last part is {slopes.words} times as steep as the first"
            yield Observation(text=text, truth=self._truth(slopes, slopes.ratio))

    def _truth(self, slopes: Difference, steeper: float) -> Truth:
        if self.shape == "linear":
            return slopes.within(STEEPER - 1)
        low, high = slopes.bounds
        return "yes" if low > 1 and steeper > STEEPER else "no" if high < STEEPER else "unclear"


@dataclass(frozen=True)
class Near:
    """The value at `level` over that at `base` is a ratio, give or take a tenth, or as much as it may be `off`."""

    field: Field
    level: Level
    base: Level
    ratio: float
    where: Conditions
    off: float = NEAR

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each pair of points with a ratio."""
        for group in by_level(measured, self.field, self.where):
            if self.level not in group or self.base not in group:
                continue
            compared = measured.difference(group[self.base], group[self.level], LEAST_S)
            if compared is None or compared.ratio is None:
                continue
            low, high = compared.bounds
            least, most = self.ratio - self.off, self.ratio + self.off
            truth: Truth = "yes" if least <= low and high <= most else "no" if low > most or high < least else "unclear"
            label = measured.label(group[self.base], self.field)
            levels = " / ".join(measured.level_text(self.field, named_level) for named_level in (self.level, self.base))
            yield Observation(text=f"{label}: {levels} = {compared.words}", truth=truth, ratios=compared.ratios)


@dataclass(frozen=True)
class Across:
    """The value at one place stands in a relation to that at another, which differs from it in several fields."""

    level: Conditions
    relation: Relation
    base: Conditions
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each pair of points that are alike in all else."""
        for point in measured.where({**self.where, **self.base}):
            other = point._replace(**self.level)  # type: ignore[arg-type]
            compared = measured.difference(point, other, least_change(point.metric))
            if compared is not None:
                levels = " / ".join(f"({_levels(measured, end, tuple(self.base))})" for end in (other, point))
                text = f"{measured.label(point, *self.base)}: {levels} = {compared.words}{ASKED.get(self.relation, '')}"
                yield Observation(text=text, truth=truth_of(self.relation, compared), ratios=compared.ratios)


@dataclass(frozen=True)
class Follows:
    """Of two places that clearly differ in one metric, the one with more of it has more of another metric too."""

    metric: str
    leader: str
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each two places that differ in the leader, picked from all pairs of places; one if none do."""
        pairs = list(combinations(measured.where({**self.where, "metric": self.leader}), 2))
        clear = False
        for point, other in pairs:
            led = measured.difference(point, other, least_change(self.leader), len(pairs))
            first, second = (end.at("metric", self.metric) for end in (point, other))
            compared = measured.difference(first, second, least_change(self.metric))
            if led is None or compared is None or not led.direction:
                continue
            clear = True
            fields = tuple(field for field in FIELDS if getattr(point, field) != getattr(other, field))
            levels = " / ".join(f"({_levels(measured, end, fields)})" for end in (other, point))
            truth: Truth = "yes" if compared.direction == led.direction else "no" if compared.direction else "unclear"
            yield Observation(text=f"{levels}: {self.leader} {led.words}, {self.metric} {compared.words}", truth=truth)
        if pairs and not clear:
            yield Observation(
                text=f"of {len(pairs)} pairs of places none clearly differs in {self.leader}", truth="unclear"
            )


def _levels(measured: StudyTable, point: StudyPoint, fields: Sequence[Field]) -> str:
    return ", ".join(measured.level_text(field, getattr(point, field)) for field in fields)


@dataclass(frozen=True)
class Like:
    """At `level` the value is like that at `near`: off it by less than a quarter of the way to that at `far`.

    Where no difference of these two can be told, nothing is.
    """

    field: Field
    level: Level
    near: Level
    far: Level
    where: Conditions

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """One for each place with all three."""
        for group in by_level(measured, self.field, self.where):
            if not {self.level, self.near, self.far} <= group.keys():
                continue
            values, near, far = (measured.of(group[named_level]) for named_level in (self.level, self.near, self.far))
            way = difference(near, far, LEAST_S)
            shared = values.keys() & near.keys()
            if way is None or not shared:
                continue
            level, base, other = (
                measured.level_text(self.field, named_level) for named_level in (self.level, self.near, self.far)
            )
            text = f"{measured.label(group[self.level], self.field)}: {level} is "
            if not way.direction:
                yield Observation(
                    text=f"{text}as both: no difference of {base} and {other} can be told", truth="unclear"
                )
                continue
            offs = [values[repetition] - near[repetition] for repetition in shared]
            low, high = sorted(off / way.change for off in interval(offs))
            off = low > LIKE_SHARE or high < -LIKE_SHARE
            truth: Truth = "yes" if max(-low, high) <= LIKE_SHARE else "no" if off else "unclear"
            yield Observation(
                text=f"{text}{100 * median(offs) / way.change:.0f} % of the way from {base} to {other}", truth=truth
            )


def _curves(measured: StudyTable, field: Field, conditions: Conditions) -> Iterator[tuple[str, Curve]]:
    """Each with at least 3 levels that have a repetition in common, and where it is."""
    for group in by_level(measured, field, conditions):
        if len(group) < LEAST_LEVELS:
            continue
        curve = _curve(measured, group)
        if curve.values[0]:
            yield measured.label(next(iter(group.values())), field), curve


def _curve(measured: StudyTable, group: Mapping[Level, StudyPoint]) -> Curve:
    levels = sorted(group, key=float)
    every = [measured.of(group[level]) for level in levels]
    shared = set.intersection(*(set(repeated_values) for repeated_values in every))
    return Curve(
        [float(level) for level in levels],
        [{key: repeated_values[key] for key in sorted(shared)} for repeated_values in every],
    )


@dataclass(frozen=True)
class Over:
    """A claim that is not seen unless it can be seen at `least` levels of a field."""

    field: Field
    claim: Compare | Flat | Steps | Like
    least: int = 2

    def findings(self, measured: StudyTable) -> Iterator[Observation]:
        """The claim's, at each level."""
        levels = dict.fromkeys(getattr(point, self.field) for point in measured.where(self.claim.where))
        every = [
            list(replace(self.claim, where={**self.claim.where, self.field: level}).findings(measured))
            for level in levels
        ]
        if sum(map(bool, every)) >= self.least:
            yield from chain(*every)


class PlaceClaims(NamedTuple):
    """Claims of which `every` place must hold, `mostly` more than half of them, or `some`."""

    quantifier: Quantifier
    claims: tuple[Claim, ...]


Check = tuple[PlaceClaims, ...]
"""All parts must hold."""


def every(*claims: Claim) -> PlaceClaims:
    """All places."""
    return PlaceClaims("every", claims)


def mostly(*claims: Claim) -> PlaceClaims:
    """More than half of the places."""
    return PlaceClaims("mostly", claims)


def some(*claims: Claim) -> PlaceClaims:
    """At least one place."""
    return PlaceClaims("some", claims)

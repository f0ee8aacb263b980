"""Claims across two fields: what a change of one does at a level of the other, beside what it does at another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from assay.study.claim import Conditions, Finding, beside, by_level, judged, resolved
from assay.study.difference import LEAST_PAIRS, LEAST_S, Difference, difference
from assay.study.point import Field, Level, Measured, Point, Repeated, level_text


@dataclass(frozen=True)
class Effect:
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

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each place at which all four values are there."""
        for group in by_level(measured, self.across, {**self.where, self.field: self.base}):
            more, less = (resolved(one, group) for one in (self.more, self.less))
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
                text = f"{group[more].told(self.across, self.field)}: {change}: {shown}"
                if any(self._tells(measured, group[one]) for one in (less, more)):
                    truth = judged("same" if self.relation == "same gain" else "less", found)
                    yield Finding(text=text, truth=truth)
                else:
                    yield Finding(text=f"{text}, {_no_more(found)}", truth="unclear")

    def _tells(self, measured: Measured, base: Point) -> bool:
        """Whether the change does anything there; of two places either would do, so that intervals are wider."""
        group = {self.base: base, self.level: base.at(self.field, self.level)}
        found = beside(measured, group, self.base, self.level, tests=2)
        return found is not None and found.direction != 0

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
        return f"{round(value, 1) or 0.0:+.1f} s" if self.relation == "more saved" else f"{value:.2f}"


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
                    yield Finding(text=f"{text}, {_no_more(found)}", truth="unclear")


def _no_more(found: Difference) -> str:
    """Why nothing is told."""
    return "no more than noise" if found.pairs >= LEAST_PAIRS else "too few repetitions to tell"


def _told_apart(measured: Measured, group: Mapping[Level, Point]) -> bool:
    """Whether any two levels differ by more than noise; each pair's interval is the wider for their number."""
    pairs = list(combinations(group, 2))
    return any(one.direction for pair in pairs if (one := beside(measured, group, *pair, len(pairs))))


def _spread(measured: Measured, group: Mapping[Level, Point]) -> Repeated:
    """Of each repetition that has all levels: by how much its largest value exceeds its smallest, as a share."""
    every = [measured.of(point) for point in group.values()]
    shared = set.intersection(*(set(one) for one in every))
    values = {one: [repeated[one] for repeated in every] for one in shared}
    return {one: max(own) / min(own) - 1 for one, own in values.items() if min(own) > 0}

"""Claims in numbers: whether values lie on a line, grow faster than one, or relate as was said."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from assay.study.claim import LEAST_LEVELS, Conditions, Finding, by_level
from assay.study.difference import LEAST_S, Difference, Truth, difference, interval
from assay.study.point import Field, Level, Measured, Point, Repeated, level_text

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
        return {one: (second[one] - first[one]) / run for one in first}

    def off(self, place: int) -> list[float]:
        """How far a value is off the line between the ends, in each repetition; in that value's unit."""
        share = (self.places[place] - self.places[0]) / (self.places[-1] - self.places[0])
        first, last = self.values[0], self.values[-1]
        return [value - first[one] - share * (last[one] - first[one]) for one, value in self.values[place].items()]


@dataclass(frozen=True)
class Line:
    """The values fall on the straight line between the first level's and the last's, nearly.

    A value that is clearly off by more than 15 % of the difference between these two is not on the line; if all are
    clearly off by less than 30 %, they are. Where no difference of the two can be told there is no line to be on.
    """

    field: Field
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each curve of at least 3 levels."""
        for place, curve in _curves(measured, self.field, self.where):
            ends = curve.ends
            if ends is None:
                continue
            text = f"{place}: from {ends.first:.3g} to {ends.second:.3g}"
            if not ends.direction:
                yield Finding(text=f"{text}, no more than noise", truth="unclear")
                continue
            inner = range(1, len(curve.places) - 1)
            most = max(abs(median(curve.off(one)) / ends.change) for one in inner)
            known = [tuple(off / abs(ends.change) for off in interval(curve.off(one), len(inner))) for one in inner]
            yield Finding(text=f"{text}, at most {100 * most:.0f} % off the line", truth=_on_line(known))


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

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each curve of at least 3 levels."""
        for place, curve in _curves(measured, self.field, self.where):
            found = difference(curve.slope(0), curve.slope(len(curve.places) - 2))
            if found is None or found.ratio is None:
                yield Finding(text=f"{place}: its parts do not all rise", truth="unclear")
                continue
            text = f"{place}: the last part is {found.words} times as steep as the first"
            yield Finding(text=text, truth=self._truth(found, found.ratio))

    def _truth(self, found: Difference, steeper: float) -> Truth:
        if self.shape == "linear":
            return found.within(STEEPER - 1)
        low, high = found.bounds
        return "yes" if low > 1 and steeper > STEEPER else "no" if high < STEEPER else "unclear"


@dataclass(frozen=True)
class Near:
    """The value at `level` over that at `base` is a ratio, give or take a tenth."""

    field: Field
    level: Level
    base: Level
    ratio: float
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each pair of points with a ratio."""
        for group in by_level(measured, self.field, self.where):
            if self.level not in group or self.base not in group:
                continue
            found = difference(measured.of(group[self.base]), measured.of(group[self.level]), LEAST_S)
            if found is None or found.ratio is None:
                continue
            low, high = found.bounds
            least, most = self.ratio - NEAR, self.ratio + NEAR
            truth: Truth = "yes" if least <= low and high <= most else "no" if low > most or high < least else "unclear"
            text = f"{level_text(self.field, self.level)} / {level_text(self.field, self.base)} = {found.words}"
            yield Finding(text=f"{group[self.base].told(self.field)}: {text}", truth=truth)


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

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each place with all three."""
        for group in by_level(measured, self.field, self.where):
            if not {self.level, self.near, self.far} <= group.keys():
                continue
            own, near, far = (measured.of(group[one]) for one in (self.level, self.near, self.far))
            way = difference(near, far, LEAST_S)
            shared = own.keys() & near.keys()
            if way is None or not shared:
                continue
            level, base, other = (level_text(self.field, one) for one in (self.level, self.near, self.far))
            text = f"{group[self.level].told(self.field)}: {level} is "
            if not way.direction:
                yield Finding(text=f"{text}as both: no difference of {base} and {other} can be told", truth="unclear")
                continue
            offs = [own[one] - near[one] for one in shared]
            low, high = sorted(off / way.change for off in interval(offs))
            off = low > LIKE_SHARE or high < -LIKE_SHARE
            truth: Truth = "yes" if max(-low, high) <= LIKE_SHARE else "no" if off else "unclear"
            yield Finding(
                text=f"{text}{100 * median(offs) / way.change:.0f} % of the way from {base} to {other}", truth=truth
            )


def _curves(measured: Measured, field: Field, conditions: Conditions) -> Iterator[tuple[str, Curve]]:
    """Each with at least 3 levels that have a repetition in common, and where it is."""
    for group in by_level(measured, field, conditions):
        if len(group) < LEAST_LEVELS:
            continue
        curve = _curve(measured, group)
        if curve.values[0]:
            yield next(iter(group.values())).told(field), curve


def _curve(measured: Measured, group: Mapping[Level, Point]) -> Curve:
    levels = sorted(group, key=float)
    every = [measured.of(group[level]) for level in levels]
    shared = set.intersection(*(set(one) for one in every))
    return Curve([float(level) for level in levels], [{key: one[key] for key in sorted(shared)} for one in every])

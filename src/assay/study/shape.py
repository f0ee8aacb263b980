"""Claims in numbers: whether values lie on a line, grow faster than one, or relate as was said."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal

from assay.study.claim import Conditions, Finding, by_level
from assay.study.difference import LEAST_S, NOISE_SHARE, Truth, difference
from assay.study.point import Field, Level, Measured, Point, level_text

ON_LINE_SHARE, OFF_LINE_SHARE = 0.15, 0.3
STEEPER = 1.25
LEAST_LEVELS = 3
NEAR = 0.1


@dataclass(frozen=True)
class Line:
    """The values fall on the straight line between the first level's and the last's, nearly.

    Off by at most 15 % of the difference between the two is on the line, by 30 % is not. Where the two differ by no
    more than noise there is no line to be on.
    """

    field: Field
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each curve of at least 3 levels."""
        for group in by_level(measured, self.field, self.where):
            curve = _curve(measured, group)
            if len(curve) < LEAST_LEVELS:
                continue
            (x0, y0), (x1, y1) = curve[0], curve[-1]
            off = max(abs(y - y0 - (y1 - y0) * (x - x0) / (x1 - x0)) for x, y in curve[1:-1])
            height = abs(y1 - y0)
            place = next(iter(group.values())).told(self.field)
            if height < max(LEAST_S, NOISE_SHARE * max(y0, y1)):
                yield Finding(text=f"{place}: from {y0:.3g} to {y1:.3g}, no more than noise", truth="unclear")
                continue
            share = off / height
            truth: Truth = "yes" if share <= ON_LINE_SHARE else "no" if share > OFF_LINE_SHARE else "unclear"
            yield Finding(
                text=f"{place}: at most {100 * share:.0f} % off the line from {y0:.3g} to {y1:.3g}", truth=truth
            )


@dataclass(frozen=True)
class Growth:
    """The last part of a curve is as steep as the first (`linear`), or steeper by a quarter (`faster`)."""

    field: Field
    shape: Literal["linear", "faster"]
    where: Conditions

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """One for each curve of at least 3 levels."""
        for group in by_level(measured, self.field, self.where):
            curve = _curve(measured, group)
            if len(curve) < LEAST_LEVELS:
                continue
            first, last = (_slope(*pair) for pair in ((curve[0], curve[1]), (curve[-2], curve[-1])))
            place = next(iter(group.values())).told(self.field)
            if first <= 0:
                yield Finding(text=f"{place}: its first part does not rise", truth="unclear")
                continue
            steeper = last / first
            yield Finding(
                text=f"{place}: the last part is {steeper:.2f} times as steep as the first", truth=self._truth(steeper)
            )

    def _truth(self, steeper: float) -> Truth:
        if self.shape == "faster":
            return "yes" if steeper > STEEPER else "no" if steeper < 1 else "unclear"
        return "yes" if 1 / STEEPER <= steeper <= STEEPER else "no"


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
            off = low > self.ratio + NEAR or high < self.ratio - NEAR
            near = abs(found.ratio - self.ratio) <= NEAR
            text = f"{level_text(self.field, self.level)} / {level_text(self.field, self.base)} = {found.words}"
            place = group[self.base].told(self.field)
            yield Finding(text=f"{place}: {text}", truth="yes" if near else "no" if off else "unclear")


def _curve(measured: Measured, group: Mapping[Level, Point]) -> list[tuple[float, float]]:
    return sorted((float(level), median(measured.of(point).values())) for level, point in group.items())


def _slope(first: tuple[float, float], second: tuple[float, float]) -> float:
    return (second[1] - first[1]) / (second[0] - first[0])

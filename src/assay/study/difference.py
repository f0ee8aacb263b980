"""How two sets of values differ: their ratio, its interval where there are enough, and whether that is a direction.

Source of the interval: order statistics of the ratios within repetitions, by the sign test (H. A. David and
H. N. Nagaraja, Order Statistics, section 7.1): exact whatever the ratios' distribution.
"""

from math import comb
from statistics import median
from typing import Literal

from assay.model.base import Frozen
from assay.study.point import Repeated

LEVEL = 0.95
LEAST_PAIRS = 3
NOISE_SHARE = 0.05
"""Without an interval a ratio closer to 1 than this is no direction."""
SAME_SHARE = 0.1
"""What is called the same may differ by so much; without an interval by half of it."""
LEAST_S = 0.5
"""Seconds that differ by less are the same: a task's start alone varies by as much."""
ROUNDING_S = 1.0
"""Published seconds are whole: a difference of one can be none."""
ROUNDING_SHARE = 0.01

Direction = Literal[-1, 0, 1]
Truth = Literal["yes", "no", "unclear"]


class Difference(Frozen):
    """The second of two sets of values relative to the first.

    `ratio` is the median of the ratios within repetitions (None where a value is 0); `low`, `high` and `level` are its
    interval and how often such a one covers the true ratio, None for fewer than 3 repetitions. `direction` is -1 where
    the second is less, 1 where it is more, 0 where no difference can be told. `least` is the smallest change of the
    medians that counts, and `change` the change, both in the values' unit.
    """

    first: float
    second: float
    ratio: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    pairs: int
    direction: Direction
    least: float = 0.0

    @property
    def change(self) -> float:
        """Of the medians."""
        return self.second - self.first

    def within(self, share: float) -> Truth:
        """Whether the two are the same but for a share, or for less than counts."""
        if abs(self.change) < self.least or (self.ratio is None and self.change == 0):
            return "yes"
        if self.ratio is None:
            return "no"
        low, high = self.bounds
        if 1 - share <= low and high <= 1 + share:
            return "yes"
        return "no" if high < 1 - share or low > 1 + share else "unclear"

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval; without one, the ratio with what may be noise on both sides. Not for a ratio that is None."""
        assert self.ratio is not None  # noqa: S101 - the callers ask before
        if self.low is None or self.high is None:
            return self.ratio * (1 - NOISE_SHARE), self.ratio * (1 + NOISE_SHARE)
        return self.low, self.high

    @property
    def words(self) -> str:
        """`0.52 (0.48 to 0.55, 3 pairs)`, or the values where they have no ratio."""
        if self.ratio is None:
            return f"{self.second:.4g} against {self.first:.4g}"
        count = f"{self.pairs} {'pair' if self.pairs == 1 else 'pairs'}"
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f} ({count})"
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f}, {count})"


def difference(first: Repeated, second: Repeated, least: float = 0.0) -> Difference | None:
    """By the repetitions that both have; None where there is none."""
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    ones, others = [first[one] for one in shared], [second[one] for one in shared]
    ratios = [b / a for a, b in zip(ones, others, strict=True)] if min(*ones, *others) > 0 else []
    found = Difference(
        first=median(ones), second=median(others), ratio=median(ratios) if ratios else None, pairs=len(shared),
        direction=0, least=least,
    )  # fmt: skip
    if len(ratios) >= LEAST_PAIRS:
        low, high, level = _interval(sorted(ratios))
        found = found.model_copy(update={"low": low, "high": high, "level": level})
    return found.model_copy(update={"direction": _direction(found)})


def _direction(found: Difference) -> Direction:
    if abs(found.change) < found.least or found.change == 0:
        return 0
    if found.ratio is None:
        return _sign(found.change)
    low, high = found.bounds
    return -1 if high < 1 else 1 if low > 1 else 0


def published_direction(first: float, second: float) -> Direction:
    """Of two published values of whole seconds."""
    change = second - first
    if abs(change) <= max(ROUNDING_S, ROUNDING_SHARE * max(abs(first), abs(second))):
        return 0
    return _sign(change)


def _sign(change: float) -> Direction:
    return -1 if change < 0 else 1


def _interval(ratios: list[float]) -> tuple[float, float, float]:
    """The narrowest pair of order statistics that covers the median often enough; the ends where none does."""
    count, place = len(ratios), 0
    while 2 * (place + 2) <= count and _covers(count, place + 1) >= LEVEL:
        place += 1
    return ratios[place], ratios[count - 1 - place], _covers(count, place)


def _covers(count: int, place: int) -> float:
    """How often the median lies between the values of a place from both ends."""
    return 1.0 - 2.0 * sum(comb(count, below) for below in range(place + 1)) * 0.5**count

"""Confidence intervals, and medians with theirs."""

from collections.abc import Sequence
from math import exp, log, pi
from statistics import median

from assay.model.base import Frozen
from assay.stats.noise import Noise

LEVEL = 0.95


class Interval(Frozen):
    """A 95 % confidence interval, in the unit of its figure."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        """Whether a value lies within, ends included."""
        return self.low <= value <= self.high


class Median(Frozen):
    """The middle of some values, in their unit; no interval where nothing of the same work ran twice."""

    value: float
    values: int
    interval: Interval | None


def median_of(values: Sequence[float], noise: Noise) -> Median:
    """The median of at least one value above 0; its interval is Student's, of logarithms with this noise."""
    from scipy.special import stdtrit

    middle, count = median(values), len(values)
    if noise.own_freedom < 1:
        return Median(value=middle, values=count, interval=None)
    # Of many normal values the median's error is so much larger than the mean's; of two both are the same.
    wider = (pi / 2) ** 0.5 if count > 2 else 1.0
    half = float(stdtrit(noise.freedom, (1 + LEVEL) / 2)) * noise.deviation * wider / count**0.5
    return Median(
        value=middle, values=count, interval=Interval(low=exp(log(middle) - half), high=exp(log(middle) + half))
    )

"""Trials whose time lies far from that of their combination's others: they are marked and stay in every figure.

Source: B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (1993): modified z-scores above 3.5.
"""

from collections.abc import Sequence

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.stats.sample import Levels, Sample, combinations

LEAST_VALUES = 5
"""Of fewer there is no telling which of them is the odd one."""
MOST_DEVIATIONS = 3.5
NORMAL = 1.4826
"""The standard deviation of normal values is so many times the median of their distances from the median."""


class Outlier(Frozen):
    """One trial and how it lies: `times` its combination's median time, so many robust standard deviations off.

    `deviations` is None where all the others took the same time, so that any other is infinitely far off.
    """

    trial: str
    factors: Levels
    elapsed_s: float
    times: float
    deviations: float | None

    @property
    def words(self) -> str:
        """In one clause."""
        off = "the others took all the same" if self.deviations is None else f"{self.deviations:.0f} deviations off"
        return f"{self.trial} took {self.times:.2f} times its combination's median, {off}"


def outliers(found: Sequence[Sample]) -> list[Outlier]:
    """In the order of the samples' combinations; of combinations with fewer than 5 trials none are known."""
    import numpy as np

    marked = []
    for levels, own in combinations(found).items():
        if len(own) < LEAST_VALUES:
            continue
        logs = np.log([one.elapsed_s for one in own])
        distance = logs - np.median(logs)
        scale = robust_deviation(distance)
        for one, off in zip(own, distance, strict=True):
            if abs(off) > MOST_DEVIATIONS * scale:
                marked.append(
                    Outlier(
                        trial=one.trial, factors=levels, elapsed_s=one.elapsed_s, times=float(np.exp(off)),
                        deviations=float(abs(off) / scale) if scale else None,
                    )
                )  # fmt: skip
    return marked


def robust_deviation(distances: Array) -> float:
    """Of distances from their median; for few values made larger, as the median of few distances is too small."""
    import numpy as np

    count = len(distances)
    return float(np.median(np.abs(distances)) * NORMAL * count / (count - 0.8))

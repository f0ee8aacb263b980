"""Medians with intervals that resampling gives, and how far such intervals can be trusted.

Sources: B. Efron, Better bootstrap confidence intervals, JASA 82 (1987), for BCa; that no interval between the least
and the greatest of n values covers their median more often than 1 - 2^(1-n) is the sign test's.
"""

from functools import lru_cache
from typing import Literal

from assay.model.base import Frozen
from assay.model.signature import Array

LEVEL = 0.95
LEAST_VALUES = 3
RESAMPLES = 2000
SEED = 20_140_814
"""The same values always have the same interval."""
AT_ONCE = 2_000_000
"""Values resampled at once: bounds the memory that it takes."""

Method = Literal["BCa", "percentile", "signed-rank", "rank-sum", "repetitions"]


class Interval(Frozen):
    """What a figure lies between. `level` is how often such an interval covers the true figure, at best.

    It is 0.95 but where the values are too few for that: then less.
    """

    low: float
    high: float
    level: float
    method: Method

    def __contains__(self, value: float) -> bool:
        """Whether a value lies within, ends included."""
        return self.low <= value <= self.high


class Median(Frozen):
    """The middle of some values, in their unit; `words` say why there is no interval or why it covers less."""

    value: float
    values: int
    interval: Interval | None
    words: str = ""


@lru_cache(maxsize=16)
def medians(groups: tuple[tuple[float, ...], ...]) -> tuple[Median, ...]:
    """One for each group; no group may be empty. Groups of one size are resampled together."""
    import numpy as np

    by_size: dict[int, list[tuple[float, ...]]] = {}
    for values in dict.fromkeys(groups):
        by_size.setdefault(len(values), []).append(values)
    found: dict[tuple[float, ...], Median] = {}
    for size, own in by_size.items():
        matrix = np.array(own, float)
        intervals = _intervals(matrix) if size >= LEAST_VALUES else [None] * len(own)
        for values, middle, interval in zip(own, np.median(matrix, axis=1), intervals, strict=True):
            found[values] = Median(value=float(middle), values=size, interval=interval, words=_words(size, interval))
    return tuple(found[values] for values in groups)


def best_level(values: int) -> float:
    """How often an interval of a median of so few values can cover it at most; 0.95 where they are enough."""
    return min(LEVEL, 1 - 2.0 ** (1 - values))


def _words(size: int, interval: Interval | None) -> str:
    if interval is None:
        return f"{size} {'value is' if size == 1 else 'values are'} too few for an interval"
    if interval.level < LEVEL:
        return f"of {size} values an interval covers the true median in at most {100 * interval.level:.0f} % of cases"
    return ""


def _intervals(matrix: Array) -> list[Interval]:
    """Of each row, whose values are at least 3."""
    rows = max(1, AT_ONCE // RESAMPLES)
    return [one for begin in range(0, len(matrix), rows) for one in _resampled(matrix[begin : begin + rows])]


def _resampled(matrix: Array) -> list[Interval]:
    """BCa; plain percentiles of the resampled medians where it has no answer, as of values that are all the same."""
    import warnings

    import numpy as np
    from scipy import stats

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # each degenerate row is told, and handled below
        found = stats.bootstrap(
            (matrix,), np.median, axis=-1, vectorized=True, n_resamples=RESAMPLES, confidence_level=LEVEL,
            batch=max(1, AT_ONCE // matrix.size), method="BCa", rng=np.random.default_rng(SEED),
        )  # fmt: skip
    low, high = found.confidence_interval
    plain_low, plain_high = np.quantile(found.bootstrap_distribution, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=-1)
    known = np.isfinite(low) & np.isfinite(high)
    level = best_level(matrix.shape[1])
    return [
        Interval(low=float(low[row]), high=float(high[row]), level=level, method="BCa")
        if known[row]
        else Interval(low=float(plain_low[row]), high=float(plain_high[row]), level=level, method="percentile")
        for row in range(len(matrix))
    ]

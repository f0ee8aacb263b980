"""How far some values lie from 0, or two samples from one another: middle, interval and chance, all by ranks.

The three belong together: an interval leaves 0 out exactly where the test calls its distance too large for chance.
Sources: J. L. Hodges and E. L. Lehmann, Estimates of location based on rank tests, Annals of Mathematical Statistics 34
(1963); M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods (2014), sections 3.1-3.3, 4.1-4.3.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from assay.model.signature import Array
from assay.stats.interval import LEVEL

MOST_VALUES = 1000
"""Of more values their quantiles stand for them: all averages or differences of two would not fit into memory."""
MOST_EXACT_PAIRS, MOST_EXACT = 200, 50 * 50
"""Beyond so many pairs, or products of both samples' sizes, the statistics' laws are normal for all purposes."""
AT_ONCE = 2_000_000


class Shift(NamedTuple):
    """For each row: the middle of the distance, its interval, and how often chance alone gives one as large (p).

    `level` is how often the intervals cover the true distance: less than 0.95 where the values are too few for that.
    """

    middle: Array
    low: Array
    high: Array
    level: float
    p: Array


def signed_rank(differences: Array) -> Shift:
    """Of rows of differences within pairs: Hodges and Lehmann's estimate, and Wilcoxon's signed-rank test."""
    import numpy as np

    count = differences.shape[1]
    exact = count <= MOST_EXACT_PAIRS
    rank, level = _rank(_signed_rank_below(count)) if exact else _normal_rank(*_signed_rank_spread(count))
    thin = _thinned(differences)
    first, second = np.triu_indices(thin.shape[1])
    found = [
        _ends((thin[piece][:, first] + thin[piece][:, second]) / 2, rank, count * (count + 1) // 2)
        for piece in _pieces(len(thin), len(first))
    ]
    middle, low, high = np.concatenate(found, axis=1)
    return Shift(middle, low, high, level, _signed_rank_p(differences))


def rank_sum(first: Array, second: Array) -> Shift:
    """How far `second` lies above `first`, row by row: Hodges and Lehmann's estimate, and Mann and Whitney's test."""
    import numpy as np

    sizes = first.shape[1], second.shape[1]
    below = _rank_sum_below(*sorted(sizes)) if sizes[0] * sizes[1] <= MOST_EXACT else None
    rank, level = _normal_rank(*_rank_sum_spread(*sizes)) if below is None else _rank(below)
    one, other = _thinned(first), _thinned(second)
    found = [
        _ends((other[piece, :, None] - one[piece, None, :]).reshape(len(one[piece]), -1), rank, sizes[0] * sizes[1])
        for piece in _pieces(len(one), one.shape[1] * other.shape[1])
    ]
    middle, low, high = np.concatenate(found, axis=1)
    return Shift(middle, low, high, level, _rank_sum_p(first, second, below))


def least_signed_rank_p(pairs: int) -> float:
    """What the test says of so many pairs at best: all lie on one side."""
    return min(1.0, 2.0 ** (1 - pairs))


def least_rank_sum_p(first: int, second: int) -> float:
    """What the test says of so many values at best: all of one sample lie above all of the other."""
    from math import comb

    return min(1.0, 2 / comb(first + second, first))


def signed_rank_bound(pairs: int, alpha: float) -> float:
    """From which sum of positive ranks on the test of so many pairs says at most `alpha`; infinite where none does."""
    from math import inf

    least = int((_signed_rank_below(pairs) <= alpha / 2).sum()) - 1
    return pairs * (pairs + 1) / 2 - least if least >= 0 else inf


def _pieces(rows: int, width: int) -> Iterator[slice]:
    step = max(1, AT_ONCE // width)
    yield from (slice(begin, begin + step) for begin in range(0, rows, step))


def _thinned(values: Array) -> Array:
    import numpy as np

    if values.shape[1] <= MOST_VALUES:
        return values
    return np.quantile(values, (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES, axis=1).T


def _ends(candidates: Array, rank: int, whole: int) -> Array:
    """The middle of each row and its values of a rank from below and from above, of so many before thinning."""
    import numpy as np

    candidates.sort(axis=1)
    width = candidates.shape[1]
    place = rank - 1 if width == whole else round((rank - 1) / whole * width)
    return np.stack((np.median(candidates, axis=1), candidates[:, place], candidates[:, width - 1 - place]))


def _rank(below: Array) -> tuple[int, float]:
    """Which value from each end bounds the interval, and how often that covers; `below` is P(statistic <= place)."""
    rank = max(1, int((below <= (1 - LEVEL) / 2).sum()))
    return rank, min(LEVEL, max(0.0, 1 - 2 * float(below[rank - 1])))


def _normal_rank(mean: float, deviation: float) -> tuple[int, float]:
    from scipy import special

    return max(1, int(mean - special.ndtri((1 + LEVEL) / 2) * deviation)), LEVEL


def _signed_rank_spread(count: int) -> tuple[float, float]:
    return count * (count + 1) / 4, (count * (count + 1) * (2 * count + 1) / 24) ** 0.5


def _rank_sum_spread(first: int, second: int) -> tuple[float, float]:
    return first * second / 2, (first * second * (first + second + 1) / 12) ** 0.5


@lru_cache(maxsize=256)
def _signed_rank_chances(count: int) -> Array:
    """Of each sum of the positive ranks without any distance: each rank is positive or not, by a coin."""
    import numpy as np

    if not count:
        return np.ones(1)
    before = _signed_rank_chances(count - 1)
    chances = np.zeros(len(before) + count)
    chances[: len(before)] += before / 2
    chances[count:] += before / 2
    return chances


@lru_cache(maxsize=256)
def _signed_rank_below(count: int) -> Array:
    """P(sum of the positive ranks <= place)."""
    import numpy as np

    return np.cumsum(_signed_rank_chances(count))


@lru_cache(maxsize=256)
def _rank_sum_below(first: int, second: int) -> Array:
    """P(pairs of which the second is below <= place): Gauss' binomial coefficients, in whole numbers."""
    import numpy as np

    ways = [1] + [0] * (first * second)
    for one in range(1, first + 1):
        for place in range(len(ways) - 1, second + one - 1, -1):
            ways[place] -= ways[place - second - one]
        for place in range(one, len(ways)):
            ways[place] += ways[place - one]
    total = sum(ways)
    return np.cumsum([way / total for way in ways])


def _signed_rank_p(differences: Array) -> Array:
    """Exact up to 200 values; rows with ties or zeros, of which the exact distribution is another, one by one."""
    import numpy as np
    from scipy import stats

    sizes = np.sort(np.abs(differences), axis=1)
    tied = (sizes[:, 0] == 0) | (np.diff(sizes, axis=1) == 0).any(axis=1)
    p = np.ones(len(differences))
    if not tied.all():
        method = "exact" if differences.shape[1] <= MOST_EXACT_PAIRS else "asymptotic"
        p[~tied] = stats.wilcoxon(differences[~tied], axis=1, method=method).pvalue
    for row in np.flatnonzero(tied & (sizes[:, -1] > 0)):
        p[row] = stats.wilcoxon(differences[row], zero_method="pratt").pvalue
    return p


def _rank_sum_p(first: Array, second: Array, below: "Array | None") -> Array:
    """Exact, by `below`; normal without it, and for rows of which a value is in both samples: their law is another."""
    import numpy as np
    from scipy import stats

    found = stats.mannwhitneyu(first, second, axis=1, method="asymptotic")
    if below is None:
        return np.asarray(found.pvalue)
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    lesser = np.minimum(found.statistic, first.shape[1] * second.shape[1] - found.statistic).astype(int)
    return np.asarray(np.where(shared, found.pvalue, np.minimum(1.0, 2 * below[lesser])))

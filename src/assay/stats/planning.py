"""How many repetitions tell a difference of a given size.

Below 24 repetitions plans are made up and judged by the signed-rank test, 2,000 of each kind and always the same ones.
From there on the chance follows from mean and variance of the test's statistic, whose law is near enough to normal. In
both, noise is normal but for a small share of disturbed trials, which lie far out on either side; and where it comes
from a pilot, it is averaged over all noise that the pilot's is compatible with.

Sources: E. L. Lehmann, Nonparametrics (1975), section 4.2, for mean and variance; S. A. Julious and R. J. Owen, Sample
size calculations for clinical studies allowing for uncertainty about the variance, Pharmaceutical Statistics 5 (2006).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, inf, isinf, log
from typing import NamedTuple

from assay.model.signature import Array
from assay.stats.interval import LEAST_VALUES, SEED
from assay.stats.outlier import MOST_DEVIATIONS, robust_deviation
from assay.stats.ranks import least_rank_sum_p, signed_rank_bound

ALPHA = 0.05
EFFECT = 0.05
POWER = 0.9
DISTURBED = 0.02
"""So many of all trials may be disturbed by something else on the machine, and the chance is still as promised."""
HOPE = 0.1
"""So much of the chance of failing is kept in reserve: both ways of reckoning are that much too hopeful at worst."""
NORMAL_FROM = 24
PLANS = 2000
MOST_REPETITIONS = 200
SPREAD = 32
"""So many values of the noise stand for all that a pilot is compatible with."""
POINTS = 32
FAR = 1e6


class Noise(NamedTuple):
    """Standard deviation of the logarithm of a pair's ratio (about its share: 0.04 is 4 %).

    `freedom` is how many degrees of freedom it comes from: infinite where it is known.
    """

    deviation: float
    freedom: float = inf


def least_repetitions(comparisons: int) -> int:
    """Fewer of each level tell no difference among so many comparisons, even if all of one lie above all of the other.

    Pairs alone would take more.
    """
    alpha = ALPHA / comparisons
    return next(count for count in range(LEAST_VALUES, MOST_REPETITIONS) if least_rank_sum_p(count, count) <= alpha)


def noise_of(differences: Sequence[Array]) -> Noise | None:
    """Of logarithms of the ratios of some comparisons' pairs, put together; None of fewer than two pairs of any.

    Values beyond 3.5 robust deviations count as if they lay there: else one disturbed trial would ask for many more.
    """
    import numpy as np

    own = [one - np.median(one) for one in differences if len(one) > 1]
    if not own:
        return None
    freedom = sum(len(one) - 1 for one in own)
    every = np.concatenate([one * (len(one) / (len(one) - 1)) ** 0.5 for one in own])
    bound = MOST_DEVIATIONS * robust_deviation(every)
    if bound:
        every = np.clip(every, -bound, bound)
    return Noise(float((every**2).mean() ** 0.5), freedom)


def repetitions_needed(
    noise: Noise, effect: float = EFFECT, comparisons: int = 1, power: float = POWER, alpha: float = ALPHA
) -> int | None:
    """How many repetitions in all tell a true difference of `effect` (0.05 is 5 %) with a chance of `power`.

    `comparisons` are all that are corrected for together. None where that takes more than 200.
    """
    return _needed(_in_effects(noise, effect), noise.freedom, alpha / comparisons, power)


def _in_effects(noise: Noise, effect: float) -> float:
    """Rounded up in steps of a fiftieth, so that few kinds of plans have to be made up."""
    ratio = noise.deviation / log(1 + effect)
    return float(f"{1.02 ** ceil(log(ratio) / log(1.02)):.4g}") if ratio > 1e-3 else 0.0


@lru_cache(maxsize=4096)
def _needed(noise: float, freedom: float, alpha: float, power: float) -> int | None:
    """Noise in units of the effect."""
    wanted = power + HOPE * (1 - power)
    for count in range(LEAST_VALUES, NORMAL_FROM):
        if _made_up(noise, freedom, alpha, count) >= wanted:
            return count
    chances = _chances(noise, freedom, alpha, tuple(range(NORMAL_FROM, MOST_REPETITIONS + 1)))
    return next((count for count, chance in enumerate(chances, NORMAL_FROM) if chance >= wanted), None)


@lru_cache(maxsize=64)
def _spread(freedom: float, count: int) -> Array:
    """How many times the noise that was seen the true one may be: so many values, each as likely as the other."""
    import numpy as np
    from scipy import special

    places = (np.arange(count) + 0.5) / count
    spread: Array = np.ones(count) if isinf(freedom) else (freedom / special.chdtri(freedom, places)) ** 0.5
    return spread


def _made_up(noise: float, freedom: float, alpha: float, repetitions: int) -> float:
    """The share of made-up plans with an effect of 1 in which the test tells it."""
    import numpy as np

    bound = _bounds(alpha)[repetitions]
    if isinf(bound):
        return 0.0
    normal, odd, order = _plans()
    differences = 1 + noise * _spread(freedom, PLANS)[order, None] * normal[:, :repetitions]
    own = odd[:, :repetitions]
    differences[own != 0] = FAR * own[own != 0]
    ranks = np.argsort(np.abs(differences), axis=1)
    above = np.take_along_axis(differences > 0, ranks, axis=1) @ np.arange(1, repetitions + 1)
    return float((above >= bound).mean())


@lru_cache(maxsize=1)
def _plans() -> tuple[Array, Array, Array]:
    """For each made-up plan: its pairs' noise, the sides of those that are disturbed, and its place among noises."""
    import numpy as np

    source = np.random.default_rng(SEED)
    shape = (PLANS, NORMAL_FROM)
    disturbed = source.random(shape) < 1 - (1 - DISTURBED) ** 2
    odd = np.where(disturbed, source.choice((-1.0, 1.0), shape), 0.0)
    return source.standard_normal(shape), odd, source.permutation(PLANS)


def _chances(noise: float, freedom: float, alpha: float, repetitions: tuple[int, ...]) -> Array:
    """Of telling an effect of 1, for each number of repetitions."""
    import numpy as np
    from scipy import special

    spread = _spread(freedom, SPREAD)
    one, two, both = _above(1 / (max(noise, 1e-3) * spread))
    count = np.array(repetitions, float)[:, None]
    couples = count * (count - 1) / 2
    mean = count * one + couples * two
    variance = (
        count * one * (1 - one)
        + couples * (2 * (one - two) ** 2 + 3 * two * (1 - two))
        + 2 * couples * (count - 2) * (both - two**2)
    )
    bounds = _bounds(alpha)[list(repetitions)][:, None]
    reached = special.ndtr((mean - bounds + 0.5) / np.sqrt(np.maximum(variance, 1e-12)))
    chances: Array = reached.mean(axis=1)
    return chances


def _above(distance: Array) -> tuple[Array, Array, Array]:
    """How often a pair's difference, the sum of two, and two sums that share one are above 0.

    `distance` is the effect in standard deviations. A disturbed pair lies so far out that its sign is a coin's.
    """
    import numpy as np
    from scipy import special

    calm = (1 - DISTURBED) ** 2
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    weights = weights / weights.sum()
    two = special.ndtr(2**0.5 * distance)
    both = (special.ndtr(2 * distance[..., None] + points) ** 2 * weights).sum(axis=-1)
    odd = 1 - calm
    return (
        calm * special.ndtr(distance) + odd / 2,
        calm**2 * two + (1 - calm**2) / 2,
        odd / 2 + calm * (calm**2 * both + calm * odd * two + odd**2 / 4),
    )


@lru_cache(maxsize=256)
def _bounds(alpha: float) -> Array:
    """The signed-rank test's bound for 0, 1, 2 and so on repetitions."""
    import numpy as np

    return np.array([signed_rank_bound(count, alpha) for count in range(MOST_REPETITIONS + 1)])

"""How many repetitions tell a difference of a given size.

Chances are those of the t-test on logarithms of ratios, with two changes: the signed-rank test needs 3/pi times as
much (its efficiency for normal values), and it can't reach every p with few pairs. How well the noise itself is known
counts too: the chance is the average over all noise that the pilot's is compatible with.

Sources: E. L. Lehmann, Nonparametrics (1975), section 4.2, for the efficiency; S. A. Julious and R. J. Owen, Sample
size calculations for clinical studies allowing for uncertainty about the variance, Pharmaceutical Statistics 5 (2006).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import inf, isinf, log, pi
from typing import NamedTuple

from assay.model.signature import Array
from assay.stats.interval import LEAST_VALUES
from assay.stats.outlier import MOST_DEVIATIONS, robust_deviation
from assay.stats.ranks import attained

ALPHA = 0.05
EFFECT = 0.05
POWER = 0.9
EFFICIENCY = 3 / pi
MOST_REPETITIONS = 500
TOLD = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
SPREAD = 32
"""So many values of the noise stand for all that a pilot is compatible with."""


class Noise(NamedTuple):
    """Standard deviation of the logarithm of a pair's ratio (about its share: 0.04 is 4 %).

    `freedom` is how many degrees of freedom it comes from: infinite where it is known.
    """

    deviation: float
    freedom: float = inf


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

    `comparisons` are all that are corrected for together. None where that takes more than 500.
    """
    return _needed(_in_effects(noise, effect), noise.freedom, alpha / comparisons, power)


def effect_told(
    noise: Noise, repetitions: int, comparisons: int = 1, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The least of `TOLD` that so many repetitions tell with a chance of `power`; None where they tell none of them."""
    if repetitions < LEAST_VALUES:
        return None
    return _told(round(noise.deviation, 4), noise.freedom, alpha / comparisons, power, repetitions)


def _in_effects(noise: Noise, effect: float) -> float:
    return round(noise.deviation / log(1 + effect), 2)


@lru_cache(maxsize=4096)
def _needed(noise: float, freedom: float, alpha: float, power: float) -> int | None:
    """Noise in units of the effect."""
    import numpy as np

    chances = _chances(np.array([noise]), freedom, alpha, np.arange(LEAST_VALUES, MOST_REPETITIONS + 1))
    enough = np.flatnonzero(chances >= power)
    return LEAST_VALUES + int(enough[0]) if len(enough) else None


@lru_cache(maxsize=4096)
def _told(noise: float, freedom: float, alpha: float, power: float, repetitions: int) -> float | None:
    import numpy as np

    chances = _chances(noise / np.log1p(TOLD), freedom, alpha, np.array([min(repetitions, MOST_REPETITIONS)]))
    enough = np.flatnonzero(chances >= power)
    return TOLD[int(enough[0])] if len(enough) else None


def _chances(noises: Array, freedom: float, alpha: float, repetitions: Array) -> Array:
    """Of telling an effect of 1 with so much noise and so many repetitions; either of both is a single one."""
    import numpy as np
    from scipy import special

    levels, bounds = (column[repetitions] for column in _bounds(alpha))
    # As many values of the noise as stand for its law, each as likely as the other.
    places = (np.arange(SPREAD) + 0.5) / SPREAD
    spread = np.ones(1) if isinf(freedom) else (freedom / special.chdtri(freedom, places)) ** 0.5
    distance = (repetitions * EFFICIENCY / np.maximum(noises, 1e-9) ** 2)[:, None] ** 0.5 / spread
    bound, degrees = bounds[:, None], (repetitions - 1)[:, None]
    # The noncentral t law, by its normal approximation (Johnson, Kotz and Balakrishnan, 1995, 31.6).
    reached = special.ndtr((distance - bound * (1 - 1 / (4 * degrees))) / np.sqrt(1 + bound**2 / (2 * degrees)))
    chances: Array = np.where(levels > 0, reached.mean(axis=1), 0)
    return chances


@lru_cache(maxsize=256)
def _bounds(alpha: float) -> tuple[Array, Array]:
    """For 0, 1, 2 and so on repetitions: the p up to `alpha` that the test reaches, and Student's bound for it."""
    import numpy as np
    from scipy import special

    levels = np.array([attained(count, alpha) if count > 1 else 0.0 for count in range(MOST_REPETITIONS + 1)])
    degrees = np.maximum(np.arange(MOST_REPETITIONS + 1) - 1, 1)
    return levels, np.where(levels > 0, -special.stdtrit(degrees, np.maximum(levels, 1e-12) / 2), 1e9)

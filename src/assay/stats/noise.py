"""How much equal trials differ, and the confidence intervals that follow.

A few trials say little of their own variance. As limma does for genes, the variance that a combination's residuals have
is averaged with a prior, each weighted by its degrees of freedom. Where the residuals contradict the prior, by a larger
variance, it counts less: averaged all the same, it would make the intervals of a noisy combination too narrow.

Sources: G. Smyth, Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments, Statistical Applications in Genetics and Molecular Biology 3 (2004), sections 4 and 6.2; B. Phipson, S.
Lee, I. Majewski, W. Alexander and G. Smyth, Robust hyperparameter estimation protects against hypervariable genes,
Annals of Applied Statistics 10 (2016): priors that count less for some; S. Julious and R. Owen, Sample size
calculations for clinical studies allowing for uncertainty about the variance, Pharmaceutical Statistics 5 (2006).
"""

from collections.abc import Iterable, Sequence
from math import exp, inf, log, pi
from statistics import median
from typing import NamedTuple

import numpy as np
from pydantic import computed_field

from assay.model.base import Frozen
from assay.model.trial import SHIPPED_PRIOR, NoisePrior

ALPHA, POWER, EFFECT = 0.05, 0.9, 0.05
MOST_REPETITIONS = 200
RESERVE = 0.2
"""So much of the probability of failing is kept for the permutation test, and for noise that is not normal."""
LEAST_WORKS, LEAST_FREEDOM = 3, 6
"""A history of fewer workloads, or of fewer residual degrees of freedom, says less than the shipped prior."""
LEAST_TOGETHER = 2.0
"""Degrees of freedom: of one alone Student's t is so wide that an interval says nothing."""
MOST_FREEDOM = 20.0
"""However alike earlier workloads were, a new one may be otherwise."""


class Noise(Frozen):
    """The standard deviation of the logarithm of one trial's time (about its share: 0.05 is 5 %), after a run.

    `own_freedom` are the degrees of freedom of the run's residuals; `freedom` are those and what is borrowed from the
    `prior`, or fewer where levels differ in their noise (Satterthwaite). The prior's are those with which it counted.
    """

    deviation: float
    freedom: float
    own_freedom: int
    prior: NoisePrior

    @computed_field  # type: ignore[prop-decorator]
    @property
    def borrowed(self) -> float:
        """The share (0 to 1) of the deviation's weight that comes from the prior."""
        weight = self.prior.freedom + self.own_freedom
        return self.prior.freedom / weight if weight else 1.0


def moderated(squares: float, freedom: int, prior: NoisePrior) -> Noise:
    """Moderate a sum of squared residuals, with its degrees of freedom, by the prior (alone for 0 degrees).

    Where the residuals' variance exceeds the prior's, the prior's degrees of freedom are divided by the square of the
    ratio of both, though not so far that fewer than two are left together.
    """
    variance, known = squares / freedom if freedom else 0.0, prior.deviation**2
    agreement = 1.0 if variance <= known else (known / variance) ** 2
    counted = max(prior.freedom * agreement, min(prior.freedom, LEAST_TOGETHER - freedom))
    return averaged(squares, freedom, prior.model_copy(update={"freedom": counted}))


def averaged(squares: float, freedom: int, prior: NoisePrior) -> Noise:
    """Average a sum of squared residuals, with its degrees of freedom, with the prior, whatever they say of it."""
    total = prior.freedom + freedom
    variance = (prior.freedom * prior.deviation**2 + squares) / total if total else prior.deviation**2
    return Noise(deviation=variance**0.5, freedom=total, own_freedom=freedom, prior=prior)


class Residual(NamedTuple):
    """A sum of squared residuals, its degrees of freedom, and how many trials they come from."""

    squares: float
    freedom: int
    trials: int

    def plus(self, other: "Residual") -> "Residual":
        """Add both."""
        return Residual(self.squares + other.squares, self.freedom + other.freedom, self.trials + other.trials)


def spread(groups: Iterable[Sequence[float]]) -> Residual:
    """What is left of the logarithms of values above 0 beside each group's mean."""
    logs = [np.log(group) for group in groups]
    squares = sum(float(((group_logs - group_logs.mean()) ** 2).sum()) for group_logs in logs)
    trials = sum(map(len, logs))
    return Residual(squares, trials - len(logs), trials)


def fit_prior(works: Sequence[Residual]) -> NoisePrior:
    """The prior that earlier workloads on this machine speak for, by the method of moments (Smyth 2004, section 6.2).

    `works` are the residuals of one workload each. The shipped prior where they are too few.
    """
    known = [work for work in works if work.freedom > 0]
    if len(known) < LEAST_WORKS or sum(work.freedom for work in known) < LEAST_FREEDOM:
        return SHIPPED_PRIOR
    variances = [work.squares / work.freedom for work in known]
    least = 1e-5 * sorted(variances)[len(variances) // 2]  # none is 0: two equal times are chance, too
    if not least:
        return SHIPPED_PRIOR
    from scipy.special import digamma, polygamma  # most runs have no history, and this takes 0.2 s

    halves = [work.freedom / 2 for work in known]
    logs = [
        log(max(variance, least)) - digamma(half) + log(half) for variance, half in zip(variances, halves, strict=True)
    ]
    mean = sum(logs) / len(logs)
    spread = sum((value - mean) ** 2 for value in logs) / (len(logs) - 1) - sum(polygamma(1, halves)) / len(halves)
    # So few workloads as are known can't be said to be alike to any degree.
    half = min(trigamma_inverse(spread), MOST_FREEDOM / 2, float(len(known)))
    return NoisePrior(
        deviation=exp((mean + float(digamma(half)) - log(half)) / 2),
        freedom=2 * half,
        source="history",
        trials=sum(work.trials for work in known),
        workloads=len(known),
    )


def trigamma_inverse(value: float) -> float:
    """The number whose trigamma is `value`; infinite for 0 and below. By Newton's method, as in Smyth's appendix."""
    from scipy.special import polygamma

    if value <= 1e-6:
        return inf
    if value > 1e7:
        return float(value**-0.5)
    root = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, root))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, root))
        root += step
        if -step / root < 1e-10:
            break
    return root


def repetitions_needed(noise: Noise, effect: float = EFFECT, comparisons: int = 1) -> int | None:
    """How many repetitions in all find a true difference of `effect` (0.05 is 5 %) with the probability of 90 %.

    `comparisons` are all that are corrected for together. The noise is taken to be as uncertain as its degrees of
    freedom say (Julious and Owen). None where it takes more than 200.
    """
    from scipy.special import stdtrit

    power = POWER + RESERVE * (1 - POWER)
    counts = np.arange(2, MOST_REPETITIONS + 1)
    surely = stdtrit(noise.prior.freedom + counts - 1, 1 - ALPHA / comparisons / 2) + stdtrit(noise.freedom, power)
    enough = surely * noise.deviation * (2 / counts) ** 0.5 <= log(1 + effect)
    return int(counts[enough.argmax()]) if enough.any() else None


def repetitions_to_decide(
    difference: float, error: float, noise: Noise, repetitions: int, worth: float, alpha: float = ALPHA
) -> int | None:
    """How many repetitions in all would tell on which side of the threshold a log ratio lies, if it stays as it is.

    `difference` is the log ratio with its standard `error` from so many `repetitions`; the threshold is a saving of
    `worth` (0.1 is 10 %). That is known once half of the interval of confidence 1 - `alpha` is shorter than the
    distance. None for more than 200.
    """
    from scipy.special import stdtrit

    distance = abs(difference - log(1 - worth))
    for count in range(repetitions, MOST_REPETITIONS + 1):
        more = count - repetitions
        freedom = noise.prior.freedom + max(noise.own_freedom * count / repetitions, noise.own_freedom + more)
        if stdtrit(freedom, 1 - alpha / 2) * error * (repetitions / count) ** 0.5 < distance:
            return count
    return None


LEVEL = 0.95


class ConfidenceInterval(Frozen):
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
    interval: ConfidenceInterval | None


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
        value=middle,
        values=count,
        interval=ConfidenceInterval(low=exp(log(middle) - half), high=exp(log(middle) + half)),
    )

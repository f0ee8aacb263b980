"""Least squares: the logarithm of a time is that of its level and that of its block, and noise.

A block is a repetition of one run on one machine: what the machine did to all of a block's trials drops out of ratios.
Blocks may lack levels or hold one several times, as where a trial failed or a repetition runs there and back again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.stats.duration_history import TrialDuration
from assay.stats.noise import LEVEL, Interval, Noise, Residual, fit_prior, moderated, spread
from assay.stats.sample import MACHINE, PLACEMENT, RUN, WORK, Levels, Sample, in_order

OF_WORK = (*WORK, "variant", MACHINE)
"""Noise is pooled over all combinations that are equal in these."""


class Contrast(NamedTuple):
    """The logarithm of a ratio of two times, with its standard error and degrees of freedom (Student's t)."""

    log: float
    error: float
    freedom: float

    @property
    def ratio(self) -> float:
        """How many times as long."""
        return exp(self.log)

    def interval(self, level: float = LEVEL) -> Interval:
        """The ratio's confidence interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return Interval(low=exp(self.log - half), high=exp(self.log + half))

    def p(self, log: float = 0.0) -> float:
        """Two-sided: how often chance alone gives a ratio as far from that of this logarithm; 0 is a ratio of 1."""
        from scipy.special import stdtr

        return 2 * float(stdtr(self.freedom, -abs(self.log - log) / self.error))


class Fit(NamedTuple):
    """Levels of one factor, all else equal. `logs` are the levels' log times up to one constant that they share.

    `covariance` is theirs in units of the noise's variance, `own` each level's trials. `blocked` says whether the
    model has a term for each block.
    """

    levels: tuple[str, ...]
    logs: Array
    covariance: Array
    noise: Noise
    own: Mapping[str, Sequence[Sample]]
    blocked: bool

    def contrast(self, level: str, base: str) -> Contrast:
        """Of a level's time over the base's. Raises ValueError for a level that is not there."""
        one, other = self.levels.index(level), self.levels.index(base)
        scale = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        error = self.noise.deviation * max(0.0, float(scale)) ** 0.5
        return Contrast(float(self.logs[one] - self.logs[other]), error, self.noise.freedom)

    def draws(self, count: int, seed: int) -> Array:
        """Joint draws (multivariate t) of the levels' log times, (count, levels), for intervals of what they make up.

        Only their differences mean anything: they share a constant.
        """
        source = np.random.default_rng(seed)
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        normal = source.standard_normal((count, len(self.levels))) @ root.T
        scale = self.noise.deviation * np.sqrt(self.noise.freedom / source.chisquare(self.noise.freedom, (count, 1)))
        drawn: Array = self.logs + normal * scale
        return drawn


def fits(found: Sequence[Sample], factor: str, prior: NoisePrior = SHIPPED_PRIOR) -> dict[Levels, Fit]:
    """One fit for each set of samples that are equal in all other factors, by the levels of those.

    Their noise is pooled over all that do the same work on one machine. Raises KeyError where a sample has no such
    factor.
    """
    solved = {others: _solve(own) for others, own in by_other_factors(found, factor).items()}
    noises = [
        pooled({others: left for others, (fit, left) in solved.items() if fit.blocked is blocked}, prior)
        for blocked in (False, True)
    ]
    return {others: fit._replace(noise=noises[fit.blocked][others]) for others, (fit, _) in solved.items()}


def pooled(residuals: Mapping[Levels, Residual], prior: NoisePrior = SHIPPED_PRIOR) -> dict[Levels, Noise]:
    """The noise of each: that of all residuals of the same work and machine together."""
    sums = residuals_of_works(residuals)
    noises = {work: moderated(one.squares, one.freedom, prior) for work, one in sums.items()}
    return {levels: noises[work_of(levels)] for levels in residuals}


def residuals_of_works(residuals: Mapping[Levels, Residual]) -> dict[Levels, Residual]:
    """Added up by work and machine."""
    sums: dict[Levels, Residual] = {}
    for levels, one in residuals.items():
        work = work_of(levels)
        sums[work] = sums[work].plus(one) if work in sums else one
    return sums


def work_of(levels: Levels) -> Levels:
    """The levels that say which work was done on which machine."""
    return tuple(item for item in levels if item[0] in OF_WORK)


def within(found: Mapping[Levels, Sequence[Sample]], prior: NoisePrior = SHIPPED_PRIOR) -> dict[Levels, Noise]:
    """The noise of each combination's times themselves, drift between repetitions included: for medians."""
    return pooled({levels: spread([[one.elapsed_s for one in own]]) for levels, own in found.items()}, prior)


def residuals(found: Sequence[Sample], factor: str) -> dict[Levels, Residual]:
    """What is left of each work's log times within blocks: all that a prior is fitted from."""
    return residuals_of_works({others: _solve(own)[1] for others, own in by_other_factors(found, factor).items()})


def by_other_factors(found: Sequence[Sample], factor: str) -> dict[Levels, dict[str, list[Sample]]]:
    """Samples by the levels of all other factors, then by the level of this one."""
    groups: dict[Levels, dict[str, list[Sample]]] = {}
    for sample in found:
        others = tuple(item for item in sample.factors if item[0] != factor)
        groups.setdefault(others, {}).setdefault(sample.level(factor), []).append(sample)
    return groups


def _solve(own: Mapping[str, Sequence[Sample]]) -> tuple[Fit, Residual]:
    """Least squares with the blocks' terms projected out, which leaves an equation for each level.

    The fit's noise is that of its own residual, to be replaced by what is pooled.

    Blocks have terms where they join all levels and most trials share theirs with another level; else there is one
    constant, and drift stays in the noise.
    """
    levels = tuple(in_order(own))
    level = np.repeat(np.arange(len(levels)), [len(own[name]) for name in levels])
    samples = [one for name in levels for one in own[name]]
    turns = [(*map(dict(one.factors).get, (RUN, MACHINE)), one.repetition) for one in samples]
    blocks = {turn: place for place, turn in enumerate(dict.fromkeys(turns))}
    block = np.array([blocks[turn] for turn in turns])
    logs = np.log([sample.elapsed_s for sample in samples])
    counts = _counts(block, level, len(levels))
    shared = counts[(counts > 0).sum(axis=1) > 1].sum()
    squares = _squares(counts)
    blocked = 2 * shared >= len(samples) and np.linalg.matrix_rank(squares, hermitian=True) == len(levels) - 1
    if not blocked:
        block = np.zeros(len(samples), int)
        counts = _counts(block, level, len(levels))
        squares = _squares(counts)
    means = np.bincount(block, logs) / np.bincount(block)
    centred = logs - means[block]
    products = np.bincount(level, centred)
    inverse = np.linalg.pinv(squares, hermitian=True)
    found = inverse @ products
    left = max(0.0, float(centred @ centred - found @ products))
    freedom = len(samples) - len(counts) - (len(levels) - 1)
    residual = Residual(left, freedom, len(samples))
    return Fit(levels, found, inverse, moderated(left, freedom), own, bool(blocked)), residual


def _counts(block: Array, level: Array, levels: int) -> Array:
    """Trials of each level in each block, (blocks, levels)."""
    counts = np.zeros((int(block.max()) + 1, levels))
    np.add.at(counts, (block, level), 1)
    return counts


def _squares(counts: Array) -> Array:
    """Sums of products of the levels' columns within blocks."""
    products: Array = np.diag(counts.sum(axis=0)) - counts.T @ (counts / counts.sum(axis=1, keepdims=True))
    return products


SAME_MACHINE = ("host", "cpu", "cores")
"""Software may differ: it changes little in how much equal trials differ."""


def prior_of(took: Iterable[TrialDuration], facts: Mapping[str, str], clusters: Collection[str]) -> NoisePrior:
    """From repeated trials of the machine with these facts, on these kinds of clusters (`embedded`, `existing`).

    Each run's repetitions are blocks of their own. The shipped prior where these are too few.
    """
    found = [
        Sample(
            trial=one.trial.id,
            factors=(*one.trial.factors.items(), (RUN, one.run), (MACHINE, "")),
            repetition=one.trial.repetition,
            elapsed_s=one.elapsed_s,
        )
        for one in took
        if one.elapsed_s
        and not one.trial.warm_up
        and not one.trial.varied
        and one.trial.cluster.kind in clusters
        and all(name in one.facts and one.facts[name] == facts.get(name) for name in SAME_MACHINE)
    ]
    return fit_prior(list(residuals(found, PLACEMENT).values()))

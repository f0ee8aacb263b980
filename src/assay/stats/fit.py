"""Least squares: the logarithm of a time is that of its level and that of its block, and noise.

A block is a repetition of one run on one machine: what the machine did to all of a block's trials drops out of ratios.
Blocks may lack levels or hold one several times, as where a trial failed or a repetition runs there and back again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations as pairs_of
from math import exp
from typing import NamedTuple

import numpy as np

from assay.model.fact import Fact
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.stats.duration_history import TrialDuration
from assay.stats.level_noise import PairSpreads, pair_noise
from assay.stats.noise import LEVEL, ConfidenceInterval, Noise, Residual, fit_prior, moderated, spread
from assay.stats.sample import MACHINE, PLACEMENT, RUN, WORK, Levels, TrialSample, block_numbers, combinations, in_order

OF_WORK = (*WORK, "variant", MACHINE)
"""What is equal in these does the same work on one machine."""


class Contrast(NamedTuple):
    """The logarithm of a ratio of two times, with its standard error and degrees of freedom (Student's t)."""

    log: float
    error: float
    freedom: float

    @property
    def ratio(self) -> float:
        """How many times as long."""
        return exp(self.log)

    def interval(self, level: float = LEVEL) -> ConfidenceInterval:
        """The ratio's confidence interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return ConfidenceInterval(low=exp(self.log - half), high=exp(self.log + half))

    def p(self, log: float = 0.0) -> float:
        """Two-sided: how often chance alone gives a ratio as far from that of this logarithm; 0 is a ratio of 1."""
        from scipy.special import stdtr

        return 2 * float(stdtr(self.freedom, -abs(self.log - log) / self.error))


class Fit(NamedTuple):
    """Levels of one factor, all else equal. `logs` are the levels' log times up to one constant that they share.

    `covariance` is theirs in units of the noise's variance, `counts` are the trials of each level in each block,
    (blocks, levels), `trials` each level's trials. `noise` is pooled over all levels, `spreads` has that of any two;
    both are moderated by the `prior`. `blocked` says whether the model has a term for each block.
    """

    levels: tuple[str, ...]
    logs: Array
    covariance: Array
    counts: Array
    noise: Noise
    trials: Mapping[str, Sequence[TrialSample]]
    blocked: bool
    spreads: PairSpreads
    prior: NoisePrior
    noises: dict[tuple[str, str, NoisePrior | None], Noise]
    """Those of two levels that were worked out before."""

    def contrast(self, level: str, base: str) -> Contrast:
        """Contrast a level's time with the base's. Raises ValueError for a level that is not there."""
        return self._contrast(level, base, self.noise_of(level, base))

    def own_contrast(self, level: str, base: str) -> Contrast | None:
        """Contrast them by this run's repetitions alone; None where neither level ran twice in a block."""
        noise = self.noise_of(level, base, self.prior.model_copy(update={"freedom": 0.0}))
        return self._contrast(level, base, noise) if noise.own_freedom else None

    def noise_of(self, level: str, base: str, prior: NoisePrior | None = None) -> Noise:
        """Return the noise of the two levels' trials, or that of all levels where these two have no residuals."""
        known = (level, base, prior)
        if known not in self.noises:
            self.noises[known] = self._noise_of(level, base, prior)
        return self.noises[known]

    def _noise_of(self, level: str, base: str, prior: NoisePrior | None) -> Noise:
        spread = self.spreads.of(base, level)
        if not spread.freedom:
            return self.noise if prior is None else moderated(0.0, 0, prior)
        used = self._weights(level, base)
        weights = (used**2 * self.counts).sum(axis=0)
        of_two = weights[[self.levels.index(base), self.levels.index(level)]]
        return pair_noise(spread, of_two, prior or self.prior)

    def draws(self, levels: Sequence[str], base: str, count: int, seed: int) -> Array:
        """Joint draws (multivariate t) of the log ratios of some levels to the base, (count, levels).

        For intervals of what these ratios make up. The variances are those of the contrasts between any two.
        """
        contrasts = [self.contrast(level, base) for level in levels]
        covariance = np.diag([contrast.error**2 for contrast in contrasts])
        for (row, level), (column, other_level) in pairs_of(enumerate(levels), 2):
            apart = self.contrast(level, other_level).error ** 2
            covariance[row, column] = covariance[column, row] = (
                covariance[row, row] + covariance[column, column] - apart
            ) / 2
        source = np.random.default_rng(seed)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        normal = source.standard_normal((count, len(levels))) @ root.T
        freedom = min(contrast.freedom for contrast in contrasts)
        drawn: Array = [contrast.log for contrast in contrasts] + normal * np.sqrt(
            freedom / source.chisquare(freedom, (count, 1))
        )
        return drawn

    def _contrast(self, level: str, base: str, noise: Noise) -> Contrast:
        index, base_index = self.levels.index(level), self.levels.index(base)
        scale = (
            self.covariance[index, index]
            + self.covariance[base_index, base_index]
            - 2 * self.covariance[index, base_index]
        )
        error = noise.deviation * max(0.0, float(scale)) ** 0.5
        return Contrast(float(self.logs[index] - self.logs[base_index]), error, noise.freedom)

    def _weights(self, level: str, base: str) -> Array:
        """How much of each trial's log time is in the ratio, (blocks, levels): all of a cell weigh the same."""
        used = self.covariance[self.levels.index(level)] - self.covariance[self.levels.index(base)]
        centred: Array = used - (self.counts @ used / self.counts.sum(axis=1))[:, None]
        return centred


def fits(finished: Sequence[TrialSample], factor: str, prior: NoisePrior = SHIPPED_PRIOR) -> dict[Levels, Fit]:
    """Fit each set of samples that are equal in all other factors, by the levels of those.

    Each has the noise of its own trials: that of other sets, on another engine or within other memory, may be another.
    Raises KeyError where a sample has no such factor.
    """
    return {
        others: _solve(trials_by_level, prior)[0]
        for others, trials_by_level in by_other_factors(finished, factor).items()
    }


def work_of(levels: Levels) -> Levels:
    """The levels that say which work was done on which machine."""
    return tuple(item for item in levels if item[0] in OF_WORK)


def noise_by_combination(
    trials_by_levels: Mapping[Levels, Sequence[TrialSample]], factor: str = PLACEMENT, prior: NoisePrior = SHIPPED_PRIOR
) -> dict[Levels, Noise]:
    """The noise of each combination's times themselves, drift between repetitions included: for medians.

    A combination that ran once has that of all that differ from it in nothing but this factor.
    """
    spreads = {levels: spread([[trial.elapsed_s for trial in trials]]) for levels, trials in trials_by_levels.items()}
    alike: dict[Levels, Residual] = {}
    for levels, residual in spreads.items():
        others = _but(levels, factor)
        alike[others] = alike[others].plus(residual) if others in alike else residual
    used = {levels: own if own.freedom else alike[_but(levels, factor)] for levels, own in spreads.items()}
    return {levels: moderated(residual.squares, residual.freedom, prior) for levels, residual in used.items()}


def residuals(finished: Sequence[TrialSample], factor: str) -> dict[Levels, Residual]:
    """What is left of each work's log times within blocks, on one machine: all that a prior is fitted from."""
    sums: dict[Levels, Residual] = {}
    for others, trials_by_level in by_other_factors(finished, factor).items():
        residual, work = _solve(trials_by_level, SHIPPED_PRIOR)[1], work_of(others)
        sums[work] = sums[work].plus(residual) if work in sums else residual
    return sums


def by_other_factors(finished: Sequence[TrialSample], factor: str) -> dict[Levels, dict[str, list[TrialSample]]]:
    """Samples by the levels of all other factors, then by the level of this one."""
    groups: dict[Levels, dict[str, list[TrialSample]]] = {}
    for levels, trials in combinations(finished).items():
        groups.setdefault(_but(levels, factor), {})[dict(levels)[factor]] = trials
    return groups


def _but(levels: Levels, factor: str) -> Levels:
    return tuple(item for item in levels if item[0] != factor)


def _solve(trials: Mapping[str, Sequence[TrialSample]], prior: NoisePrior) -> tuple[Fit, Residual]:
    """Least squares with the blocks' terms projected out, which leaves an equation for each level; and what is left.

    Blocks have terms where they join all levels and most trials share theirs with another level; else there is one
    constant, and drift stays in the noise.
    """
    levels = tuple(in_order(trials))
    level = np.repeat(np.arange(len(levels)), [len(trials[name]) for name in levels])
    samples = [trial for name in levels for trial in trials[name]]
    block = block_numbers(samples)
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
    solution = inverse @ products
    left = max(0.0, float(centred @ centred - solution @ products))
    freedom = len(samples) - len(counts) - (len(levels) - 1)
    residual = Residual(left, freedom, len(samples))
    spreads = PairSpreads(trials, blocked=bool(blocked))
    noise = moderated(left, freedom, prior)
    return Fit(levels, solution, inverse, counts, noise, trials, bool(blocked), spreads, prior, {}), residual


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


def may_be_of(duration: TrialDuration, facts: Mapping[str, Fact]) -> bool:
    """Whether an earlier trial may have run on the machine with these facts: nothing that is known of it differs."""
    return all(duration.facts.get(name, facts.get(name)) == facts.get(name) for name in SAME_MACHINE)


def prior_of(took: Iterable[TrialDuration], facts: Mapping[str, Fact], clusters: Collection[str]) -> NoisePrior:
    """From repeated trials of the machine with these facts, on these kinds of clusters (`embedded`, `existing`).

    Each run's repetitions are blocks of their own. The shipped prior where these are too few.
    """
    finished = [
        TrialSample(
            trial=duration.trial.id,
            factors=(*duration.trial.factors.items(), (RUN, duration.run), (MACHINE, "")),
            repetition=duration.trial.repetition,
            elapsed_s=duration.elapsed_s,
        )
        for duration in took
        if duration.elapsed_s
        and duration.trial.is_repetition
        and duration.trial.cluster.kind in clusters
        and all(name in duration.facts and duration.facts[name] == facts.get(name) for name in SAME_MACHINE)
    ]
    return fit_prior(list(residuals(finished, PLACEMENT).values()))

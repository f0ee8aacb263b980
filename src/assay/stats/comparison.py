"""Levels of a factor against each other, all else equal: the ratio, its interval, and whether it is significant.

See docs/explanation/statistics.md for what is computed and why.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from math import log
from statistics import median
from typing import Literal

import numpy as np

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.stats.fit import Contrast, Fit, fits
from assay.stats.noise import ALPHA, ConfidenceInterval, Noise, repetitions_needed
from assay.stats.sample import (
    APART,
    BASES,
    MACHINE,
    PLACEMENT,
    WORK,
    Levels,
    TrialSample,
    in_plan_order,
    varying_factors,
)

MOST_PAIRED = 4
"""Up to this many levels are compared pairwise, beyond that only with the base."""
LEAST_SECONDS = 0.5
"""Times below this are mostly the clock's and the scheduler's: they are not tested."""
SIGN_FLIP_FROM, MOST_EXACT, FLIPS, SEED = 6, 12, 10_000, 20_140_814
FLIPPED_AT_ONCE = 100
"""Comparisons whose signs are flipped in one product of matrices."""
HEADLINE_SHARE = 0.8
"""Of the 5 % of false claims that a report may make, the headlines' part where it has other comparisons as well."""

Family = Literal["headline", "further"]


class Comparison(Frozen):
    """One level of a factor against another, everything else (`others`) equal and on one kind of machine.

    `ratio` is the time of `level` over that of `base`, with its 95 % confidence `interval`; `own_interval` is that
    by the run's own repetitions alone, with no noise borrowed (None without any). It is from `runs` and `base_runs`
    trials, of which `pairs` are of one repetition (0 where they are unpaired). `p` is the two-sided p-value of a
    ratio of 1, and `p_adjusted` that after correction within its `family` of so many `comparisons`; both None where
    no test is made, as it could not be significant. `sign_flip_p` is that of the permutation test of the pairs,
    None below 6. `significant` says that `p_adjusted` is at most 5 %, and that the permutation test agrees.
    `needed` are the repetitions in all that find a difference of 5 % with a probability of 90 % (None: more than
    200).
    """

    factor: str
    base: str
    level: str
    others: Levels
    base_runs: int
    runs: int
    pairs: int
    ratio: float
    interval: ConfidenceInterval
    own_interval: ConfidenceInterval | None
    p: float | None
    p_adjusted: float | None
    comparisons: int
    family: Family
    significant: bool
    noise: Noise
    sign_flip_p: float | None
    needed: int | None

    @property
    def shown_interval(self) -> ConfidenceInterval | None:
        """The interval, where it says the same as `significant`.

        None where it was not tested, or excludes 1 although the difference is not significant: by the run's own
        repetitions, or after the correction, it may be chance.
        """
        excludes_1 = self.interval.low > 1 or self.interval.high < 1
        return None if self.p is None or (excludes_1 and not self.significant) else self.interval

    @property
    def repetitions(self) -> int:
        """Pairs, or trials of the level with fewer where there are none."""
        return self.pairs or min(self.runs, self.base_runs)


class _Tested:
    """One comparison before it is corrected."""

    def __init__(self, factor: str, others: Levels, fit: Fit, base: str, level: str) -> None:
        self.factor, self.others, self.fit, self.base, self.level = factor, others, fit, base, level
        self.contrast: Contrast = fit.contrast(level, base)
        self.noise = fit.noise_of(level, base)
        first, second = _by_turn(fit.trials[base]), _by_turn(fit.trials[level])
        # Logarithms of ratios within repetitions; where one has several of both, in their turn.
        pairs = first.keys() & second.keys() if fit.blocked else ()
        self.differences = [log(second[turn] / first[turn]) for turn in first if turn in pairs]
        long = max(median(trial.elapsed_s for trial in fit.trials[name]) for name in (base, level)) >= LEAST_SECONDS
        self.p = self.contrast.p() if long and self.noise.own_freedom > 0 else None
        self.picked_from = 0  # placements that a headline is the fastest of
        self.p_adjusted: float | None = None
        self.corrected_for = 1  # comparisons of its family, itself among them


def compare(
    finished: Sequence[TrialSample],
    factors: Iterable[str] | None = None,
    prior: NoisePrior = SHIPPED_PRIOR,
    orders: Mapping[str, Sequence[str]] = {},
) -> list[Comparison]:
    """All comparisons of these factors, in all that is equal otherwise: each corrected within its family.

    Without `factors` all that vary but what is computed and the machine. A factor's levels come in the order of
    `orders`, others after them (`in_plan_order`); its base is the first that has a time. Each level is compared with
    each other where there are at most 4, else with the base only; runs and machines always. Which is compared never
    depends on the times. Zero storage delay is compared with nothing. The headlines are, of each placement's
    comparisons with everything else equal, that of the fastest with the base.
    Raises KeyError where a sample has no such factor.
    """
    if factors is None:
        factors = [name for name in varying_factors(finished) if name not in (*WORK, MACHINE)]
    every = [
        _Tested(factor, others, fit, base, level)
        for factor in factors
        for others, fit in fits(finished, factor, prior).items()
        for base, level in _pairs(fit.levels, factor, orders.get(factor, BASES.get(factor, ())))
    ]
    placements: dict[Levels, list[_Tested]] = {}
    for test in every:
        if test.factor == PLACEMENT:
            placements.setdefault(test.others, []).append(test)
    for alike in placements.values():
        to_base = [test for test in alike if test.base == alike[0].base]
        min(to_base, key=lambda test: test.contrast.log).picked_from = len(to_base)
    head = [test for test in every if test.picked_from]
    rest = [test for test in every if not test.picked_from]
    both = bool([test for test in head if test.p is not None]) and bool([test for test in rest if test.p is not None])
    share = HEADLINE_SHARE if both else 1.0
    _correct(head, holm, share)
    _correct(rest, benjamini_hochberg, 1 - share if both else 1.0)
    flipped = sign_flip_ps([test.differences for test in every])
    return [_comparison(test, p) for test, p in zip(every, flipped, strict=True)]


def holm(chances: Sequence[float]) -> list[float]:
    """Corrected so that any false claim among all is as rare as one would be alone.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).
    """
    corrected = [0.0] * len(chances)
    greatest = 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        greatest = max(greatest, min(1.0, (len(chances) - rank) * chances[index]))
        corrected[index] = greatest
    return corrected


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Corrected so that of what is claimed at most the share asked for is false, on average (the false discovery rate).

    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, JRSS B 57 (1995).
    """
    corrected, least = [1.0] * len(chances), 1.0
    by_size = sorted(range(len(chances)), key=chances.__getitem__)
    for rank, index in reversed([*enumerate(by_size, 1)]):
        least = min(least, chances[index] * len(chances) / rank)
        corrected[index] = least
    return corrected


def sign_flip_ps(every: Sequence[Sequence[float]]) -> list[float | None]:
    """How often random signs make the mean difference of pairs as large: exact to 12 pairs; None below 6.

    `every` has the differences of several comparisons' pairs.

    Source: R. Fisher, The Design of Experiments (1935), section 21.
    """
    chances: list[float | None] = [None] * len(every)
    by_count: dict[int, list[int]] = {}
    for place, differences in enumerate(every):
        by_count.setdefault(len(differences), []).append(place)
    for count, places in by_count.items():
        if count < SIGN_FLIP_FROM:
            continue
        signs = _signs(count)
        for first in range(0, len(places), FLIPPED_AT_ONCE):
            some = places[first : first + FLIPPED_AT_ONCE]
            values = np.array([every[place] for place in some]).T
            as_large = np.abs(signs @ values) >= np.abs(values.sum(axis=0)) * (1 - 1e-12)
            for place, p in zip(some, as_large.mean(axis=0), strict=True):
                chances[place] = float(p)
    return chances


def _signs(count: int) -> Array:
    """Return all signs of so many values, or 10,000 random ones, always the same; the observed signs come first."""
    if count <= MOST_EXACT:
        return np.array(list(product((1.0, -1.0), repeat=count)))
    signs = np.random.default_rng(SEED).integers(0, 2, (FLIPS, count)) * 2.0 - 1
    signs[0] = 1
    return signs


def _pairs(levels: Sequence[str], factor: str, order: Sequence[str]) -> Iterable[tuple[str, str]]:
    names = [name for name in in_plan_order(levels, order) if name != ZERO_DELAY]
    if factor not in APART and len(names) <= MOST_PAIRED:
        return combinations(names, 2)
    return [(names[0], level) for level in names[1:]]


def _correct(tests: Sequence[_Tested], method: Callable[[Sequence[float]], list[float]], share: float) -> None:
    """Adjust the p-values of a family, whose part of the false claims that may be made is `share`."""
    tested = [test for test in tests if test.p is not None]
    raw = [min(1.0, (test.p or 0.0) * max(1, test.picked_from) / share) for test in tested]
    count = sum(max(1, test.picked_from) for test in tested)
    for test, adjusted in zip(tested, method(raw), strict=True):
        test.p_adjusted = adjusted
    for test in tests:
        test.corrected_for = max(1, count)


def _comparison(test: _Tested, flipped: float | None) -> Comparison:
    fit, adjusted = test.fit, test.p_adjusted
    own_contrast = fit.own_contrast(test.level, test.base)
    return Comparison(
        factor=test.factor, base=test.base, level=test.level, others=test.others,
        base_runs=len(fit.trials[test.base]), runs=len(fit.trials[test.level]), pairs=len(test.differences),
        ratio=test.contrast.ratio, interval=test.contrast.interval(),
        own_interval=own_contrast and own_contrast.interval(),
        p=test.p, p_adjusted=adjusted,
        comparisons=test.corrected_for, family="headline" if test.picked_from else "further",
        significant=adjusted is not None and adjusted <= ALPHA and (flipped is None or flipped <= ALPHA),
        noise=test.noise, sign_flip_p=flipped, needed=repetitions_needed(test.noise, comparisons=test.corrected_for),
    )  # fmt: skip


def _by_turn(level_trials: Sequence[TrialSample]) -> dict[tuple[int, int], float]:
    turns: dict[int, int] = {}
    times = {}
    for trial in level_trials:
        turns[trial.repetition] = turns.get(trial.repetition, 0) + 1
        times[trial.repetition, turns[trial.repetition]] = trial.elapsed_s
    return times

"""Levels of a factor against each other, all else equal: the ratio, its interval, and whether it is significant.

See docs/explanation/statistics.md for what is computed and why.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import log
from statistics import median
from typing import Literal

import numpy as np

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.stats.fit import Contrast, Fit, fits
from assay.stats.noise import ALPHA, Interval, Noise, repetitions_needed
from assay.stats.sample import APART, BASES, MACHINE, PLACEMENT, WORK, Levels, Sample, in_plan_order, varying_factors

MOST_PAIRED = 4
"""Of so many levels each is compared with each other, of more with the base only."""
LEAST_SECONDS = 0.5
"""Times below this are mostly the clock's and the scheduler's: they are not tested."""
SIGN_FLIP_FROM, MOST_EXACT, FLIPS, SEED = 6, 12, 10_000, 20_140_814
HEADLINE_SHARE = 0.8
"""Of the 5 % of false claims that a report may make, the headlines' part where it has other comparisons as well."""

Family = Literal["headline", "further"]


class Comparison(Frozen):
    """One level of a factor against another, everything else (`others`) equal and on one kind of machine.

    `ratio` is the time of `level` over that of `base`, with its 95 % confidence `interval`; `own_interval` is that
    by the run's own repetitions alone, with no noise borrowed (None without any). It is from `runs` and `base_runs`
    trials, of which `pairs` are of one repetition (0 where levels took no turns). `p` is the two-sided p-value of a
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
    interval: Interval
    own_interval: Interval | None
    p: float | None
    p_adjusted: float | None
    comparisons: int
    family: Family
    significant: bool
    noise: Noise
    sign_flip_p: float | None
    needed: int | None

    @property
    def shown_interval(self) -> Interval | None:
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
        first, second = _by_turn(fit.own[base]), _by_turn(fit.own[level])
        # Logarithms of ratios within repetitions; where one has several of both, in their turn.
        pairs = first.keys() & second.keys() if fit.blocked else ()
        self.differences = [log(second[turn] / first[turn]) for turn in first if turn in pairs]
        long = max(median(one.elapsed_s for one in fit.own[name]) for name in (base, level)) >= LEAST_SECONDS
        self.p = self.contrast.p() if long and self.noise.own_freedom > 0 else None
        self.picked_from = 0  # placements that a headline is the fastest of


def compare(
    found: Sequence[Sample],
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
        factors = [name for name in varying_factors(found) if name not in (*WORK, MACHINE)]
    every = [
        _Tested(factor, others, fit, base, level)
        for factor in factors
        for others, fit in fits(found, factor, prior).items()
        for base, level in _pairs(fit.levels, factor, orders.get(factor, BASES.get(factor, ())))
    ]
    placements: dict[Levels, list[_Tested]] = {}
    for one in every:
        if one.factor == PLACEMENT:
            placements.setdefault(one.others, []).append(one)
    for own in placements.values():
        to_base = [one for one in own if one.base == own[0].base]
        min(to_base, key=lambda one: one.contrast.log).picked_from = len(to_base)
    head = [one for one in every if one.picked_from]
    rest = [one for one in every if not one.picked_from]
    both = bool([one for one in head if one.p is not None]) and bool([one for one in rest if one.p is not None])
    share = HEADLINE_SHARE if both else 1.0
    corrected = _corrected(head, holm, share) | _corrected(rest, benjamini_hochberg, 1 - share if both else 1.0)
    return [_comparison(one, *corrected[id(one)]) for one in every]


def holm(chances: Sequence[float]) -> list[float]:
    """Corrected so that any false claim among all is as rare as one would be alone.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).
    """
    corrected = [0.0] * len(chances)
    greatest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        greatest = max(greatest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = greatest
    return corrected


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Corrected so that of what is claimed at most the share asked for is false, on average (the false discovery rate).

    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, JRSS B 57 (1995).
    """
    from scipy.stats import false_discovery_control

    return [float(one) for one in false_discovery_control(chances)] if chances else []


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """How often random signs make the pairs' mean difference as large: exact to 12 pairs; None below 6.

    Source: R. Fisher, The Design of Experiments (1935), section 21.
    """
    count = len(differences)
    if count < SIGN_FLIP_FROM:
        return None
    values = np.array(differences)
    return float((np.abs(_signs(count) @ values) >= abs(values.sum()) * (1 - 1e-12)).mean())


@lru_cache(maxsize=16)
def _signs(count: int) -> Array:
    """All signs of so many values, or 10,000 random ones, always the same; what was seen is the first."""
    if count <= MOST_EXACT:
        return np.array(list(product((1.0, -1.0), repeat=count)))
    signs = np.random.default_rng(SEED).integers(0, 2, (FLIPS, count)) * 2.0 - 1
    signs[0] = 1
    return signs


def _pairs(levels: Sequence[str], factor: str, order: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Pairs of a base and a level."""
    names = [name for name in in_plan_order(levels, order) if name != ZERO_DELAY]
    if factor not in APART and len(names) <= MOST_PAIRED:
        return combinations(names, 2)
    return [(names[0], level) for level in names[1:]]


def _corrected(
    own: Sequence[_Tested], correct: Callable[[Sequence[float]], list[float]], share: float
) -> dict[int, tuple[float | None, int, bool]]:
    """By each one's id: its adjusted p-value, how many it was corrected for, and whether it is a headline.

    `share` is this family's part of the false claims that may be made.
    """
    tested = [one for one in own if one.p is not None]
    raw = [min(1.0, (one.p or 0.0) * max(1, one.picked_from) / share) for one in tested]
    adjusted = dict(zip(map(id, tested), correct(raw), strict=True))
    count = sum(max(1, one.picked_from) for one in tested)
    return {id(one): (adjusted.get(id(one)), count, bool(one.picked_from)) for one in own}


def _comparison(one: _Tested, adjusted: float | None, comparisons: int, headline: bool) -> Comparison:  # noqa: FBT001
    fit, flipped, own = one.fit, sign_flip_p(one.differences), one.fit.own_contrast(one.level, one.base)
    return Comparison(
        factor=one.factor, base=one.base, level=one.level, others=one.others,
        base_runs=len(fit.own[one.base]), runs=len(fit.own[one.level]), pairs=len(one.differences),
        ratio=one.contrast.ratio, interval=one.contrast.interval(), own_interval=own and own.interval(),
        p=one.p, p_adjusted=adjusted,
        comparisons=max(1, comparisons), family="headline" if headline else "further",
        significant=adjusted is not None and adjusted <= ALPHA and (flipped is None or flipped <= ALPHA),
        noise=one.noise, sign_flip_p=flipped, needed=repetitions_needed(one.noise, comparisons=max(1, comparisons)),
    )  # fmt: skip


def _by_turn(own: Sequence[Sample]) -> dict[tuple[int, int], float]:
    turns: dict[int, int] = {}
    times = {}
    for one in own:
        turns[one.repetition] = turns.get(one.repetition, 0) + 1
        times[one.repetition, turns[one.repetition]] = one.elapsed_s
    return times

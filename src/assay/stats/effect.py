"""How much each factor, and each pair of factors, changes the elapsed time over a whole plan.

Logarithms of times are fitted by least squares: on that scale effects that multiply add up. The fit has a level for
each repetition of the plan, so what drifts between repetitions is not taken for an effect.

Sources: G. Box, J. Hunter and W. Hunter, Statistics for Experimenters (2005), for factorial effects; D. Rubin, The
Bayesian bootstrap, Annals of Statistics 9 (1981), for intervals by reweighting repetitions; T. Hesterberg, What
teachers should know about the bootstrap, The American Statistician 69 (2015), on their width for few repetitions.
"""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.stats.design import Term, design_of
from assay.stats.interval import LEAST_VALUES, LEVEL, SEED, Interval
from assay.stats.sample import APART, MACHINE, Sample, varying_factors

RESAMPLES = 500


class LevelEffect(Frozen):
    """One level of a factor, or one of each of two: it takes `times` as long as the average over all levels.

    Of a pair of factors, that is what it takes beyond what both make by themselves. No interval below 3 repetitions.
    """

    levels: tuple[str, ...]
    times: float
    interval: Interval | None


class Effect(Frozen):
    """One factor or two: what each level does, and the share of all variation (0 to 1) that it explains."""

    factors: tuple[str, ...]
    share: float
    levels: tuple[LevelEffect, ...]


class Effects(Frozen):
    """What explains the times of `trials` trials, `within` which some factors do not vary.

    `effects` are in the order of their shares, the largest first. `drift_share` is what differs between repetitions,
    `rest_share` what nothing here explains: chance, and effects of three factors together. Where combinations are
    missing or repeated unequally (`balanced` is False) shares are what the fit would lose without each, and don't add
    up to 1. `refused` says, each in a sentence, which effects can't be told, and why.
    """

    within: tuple[tuple[str, str], ...]
    trials: int
    combinations: int
    repetitions: int
    balanced: bool
    effects: tuple[Effect, ...]
    drift_share: float
    rest_share: float
    refused: tuple[str, ...]


class _Fit(NamedTuple):
    """Coefficients, and what is left of the squares of all times with them."""

    coefficients: Array
    left: float


def effects(found: Sequence[Sample], within: Sequence[str] = (MACHINE,)) -> list[Effects]:
    """One for each kind of machine, and each level of what else is `within` (such as `workload`).

    Trials of several runs are fitted apart for each run as well, as they took no turns.
    """
    apart = [name for name in dict.fromkeys((*APART, *within)) if found and name in dict(found[0].factors)]
    groups: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for one in found:
        groups.setdefault(tuple((name, one.level(name)) for name in apart), []).append(one)
    return [_effects(own, levels) for levels, own in groups.items()]


def _effects(found: Sequence[Sample], within: tuple[tuple[str, str], ...]) -> Effects:
    import numpy as np

    design = design_of(found, varying_factors(found))
    blocks, block = np.unique([one.repetition for one in found], return_inverse=True)
    times = np.log([one.elapsed_s for one in found])
    moments = _Moments(design.columns, times, block, len(blocks))
    full = moments.fit(np.arange(design.columns.shape[1]))
    total = float(((times - times.mean()) ** 2).sum())
    deviations = moments.deviations(full)
    return Effects(
        within=within,
        trials=len(found),
        combinations=len({one.factors for one in found}),
        repetitions=len(blocks),
        balanced=design.balanced,
        effects=tuple(
            sorted(
                (_effect(term, moments, full, deviations, total) for term in design.terms), key=lambda one: -one.share
            )
        ),
        drift_share=_share(total - moments.within_total, total),
        rest_share=_share(full.left, total),
        refused=(*design.refused, *_saturated(len(found) - len(blocks) - design.columns.shape[1])),
    )


def _saturated(left: int) -> list[str]:
    """A sentence where nothing is left to tell chance by."""
    return [] if left > 0 else ["there are as many effects as trials: chance can't be told from them"]


class _Moments:
    """Sums of products within each repetition: all that fits with any weights of the repetitions need."""

    def __init__(self, columns: Array, times: Array, block: Array, blocks: int) -> None:
        import numpy as np

        width = columns.shape[1]
        self.blocks = blocks
        self._squares, self._products = np.zeros((blocks, width, width)), np.zeros((blocks, width))
        self.within_total = 0.0
        for number in range(blocks):
            own = columns[block == number] - columns[block == number].mean(axis=0)
            logs = times[block == number] - times[block == number].mean()
            self._squares[number], self._products[number] = own.T @ own, own.T @ logs
            self.within_total += float(logs @ logs)

    def fit(self, some: Array) -> _Fit:
        """With some of the columns only."""
        import numpy as np

        products = self._products.sum(axis=0)[some]
        coefficients = np.linalg.solve(self._squares.sum(axis=0)[np.ix_(some, some)], products)
        return _Fit(coefficients, max(0.0, self.within_total - float(coefficients @ products)))

    def deviations(self, full: _Fit) -> "Array | None":
        """Coefficients with other weights of the repetitions, less those with equal ones; None below 3 repetitions."""
        import numpy as np

        if self.blocks < LEAST_VALUES or not len(full.coefficients):
            return None
        weights = np.random.default_rng(SEED).dirichlet(np.ones(self.blocks), RESAMPLES)
        products = weights @ self._products
        flat = self._squares.reshape(self.blocks, -1)
        shape = self._squares.shape[1:]
        found = [
            np.linalg.solve((own @ flat).reshape(shape), product)
            for own, product in zip(weights, products, strict=True)
        ]
        return np.array(found) - full.coefficients


def _effect(term: Term, moments: _Moments, full: _Fit, deviations: "Array | None", total: float) -> Effect:
    import numpy as np

    others = np.delete(np.arange(len(full.coefficients)), np.arange(len(full.coefficients))[term.place])
    logs = term.contrasts @ full.coefficients[term.place]
    widths = None if deviations is None else _widths(deviations[:, term.place] @ term.contrasts.T, moments.blocks)
    return Effect(
        factors=term.factors,
        share=_share(moments.fit(others).left - full.left, total),
        levels=tuple(
            LevelEffect(
                levels=levels,
                times=float(np.exp(logs[place])),
                interval=None if widths is None else _interval(float(logs[place]), float(widths[place])),
            )
            for place, levels in enumerate(term.levels)
        ),
    )


def _widths(deviations: Array, blocks: int) -> Array:
    """Half of each interval: the resampled effects' spread, as much wider as few repetitions make it too narrow."""
    from scipy import special

    student = float(special.stdtrit(blocks - 1, (1 + LEVEL) / 2))
    widths: Array = student * ((blocks + 1) / (blocks - 1)) ** 0.5 * (deviations**2).mean(axis=0) ** 0.5
    return widths


def _interval(log: float, width: float) -> Interval:
    from math import exp

    return Interval(low=exp(log - width), high=exp(log + width), level=LEVEL, method="repetitions")


def _share(part: float, total: float) -> float:
    return min(1.0, max(0.0, part / total)) if total > 0 else 0.0

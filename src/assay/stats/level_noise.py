"""The noise of one comparison: that of its own two levels, which may differ.

A hard disk's times may vary more than an SSD's. Noise that is pooled over all levels is then too small for the ratio of
the two, however often they ran. So each comparison has the residuals of its own two levels only, and those of its own
combination of all else: one engine's times may vary ten times as much as another's. Where both levels weigh the
same in the ratio, as in whole repetitions, their mean variance is all that it takes. Where one weighs more, as one that
ran half as often, each level's variance is estimated as well, and the degrees of freedom are Satterthwaite's.

Sources: F. Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2
(1946); C. R. Rao, Estimation of variance and covariance components: MINQUE theory, Journal of Multivariate Analysis 1
(1971).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.model.signature import Array
from assay.model.trial import NoisePrior
from assay.stats.noise import Noise, moderated
from assay.stats.sample import TrialSample, block_numbers

LEVELS_FREEDOM = 6.0
"""How alike two levels' variances are taken to be: standard deviations that differ by a factor of 1.5, usually."""
LEAST_VARIANCE = 0.05
"""No level is taken to have less of the mean variance than this: a difference of residuals may come out below 0."""


class PairSpread(NamedTuple):
    """What is left of two levels' log times beside a term for each block and their ratio.

    `squares` are each level's sum of squared residuals. Their expectation is `mixing` (2, 2) times the two variances.
    """

    squares: Array
    mixing: Array

    @property
    def freedom(self) -> int:
        """Degrees of freedom: the mixing's sum is the trace of the projection on residuals."""
        return round(float(self.mixing.sum()))


def pair_spread(first: Sequence[TrialSample], second: Sequence[TrialSample], *, blocked: bool) -> PairSpread:
    """Spread two levels' trials in one combination of all else, with a term for each block or one constant."""
    samples = [*first, *second]
    level = np.repeat([0, 1], [len(first), len(second)])
    block = block_numbers(samples) if blocked else np.zeros(len(samples), int)
    logs = np.log([sample.elapsed_s for sample in samples])
    counts = np.zeros((int(block.max()) + 1, 2))
    np.add.at(counts, (block, level), 1)
    trials = counts.sum(axis=1, keepdims=True)
    # The second level's column within blocks: the same for all of a level's trials in a block.
    column = np.array([0.0, 1.0]) - counts[:, 1:] / trials
    of_levels = (counts * column**2).sum(axis=0)
    length = float(of_levels.sum())
    inverse = 1 / length if length > 1e-9 else 0.0  # 0 where no block has both levels
    centred = logs - (np.bincount(block, logs) / trials[:, 0])[block]
    placed = column[block, level]
    left = centred - placed * float(placed @ centred) * inverse
    # Squares of the projection's elements, summed up by level: see the sources.
    shared = counts.T @ (counts / trials**2)
    crossed = (counts * column).T @ (counts * column / trials)
    mixing = shared + 2 * inverse * crossed + np.outer(of_levels, of_levels) * inverse**2
    mixing += np.diag((counts * (1 - 2 / trials - 2 * inverse * column**2)).sum(axis=0))
    return PairSpread(np.bincount(level, left**2, minlength=2), mixing)


class PairSpreads:
    """The spread of any two levels in one combination of all else; each worked out once."""

    def __init__(self, trials: Mapping[str, Sequence[TrialSample]], *, blocked: bool) -> None:
        """`trials` are each level's."""
        self._trials, self._blocked = trials, blocked
        self._known: dict[tuple[str, str], PairSpread] = {}

    def of(self, first: str, second: str) -> PairSpread:
        """Return the spread of two levels, in this order."""
        if (first, second) not in self._known:
            trials = self._trials
            self._known[first, second] = pair_spread(trials[first], trials[second], blocked=self._blocked)
        return self._known[first, second]


def pair_noise(spread: PairSpread, weights: Array, prior: NoisePrior) -> Noise:
    """Return the noise of a ratio: the weighted mean of the two levels' variances, with the prior's.

    The deviation is that of a trial with the mean variance, so that the ratio's variance is the weights' sum times its
    square. The prior lends its degrees of freedom to the mean, `LEVELS_FREEDOM` keep the levels alike.
    """
    freedoms = spread.mixing.sum(axis=1)
    freedom, total = spread.freedom, float(weights.sum())
    mean = moderated(float(spread.squares.sum()), freedom, prior)
    relative = _relative_variances(spread)
    uneven = weights / total - freedoms / freedoms.sum()
    factor = max(LEAST_VARIANCE, 1 + float(uneven @ relative))
    own_freedom = float(relative @ freedoms) ** 2 / float(relative**2 @ freedoms)
    inverse = 1 / (mean.prior.freedom + own_freedom)
    inverse += float(((uneven * relative / factor) ** 2 / (LEVELS_FREEDOM + freedoms)).sum())
    return Noise(deviation=mean.deviation * factor**0.5, freedom=1 / inverse, own_freedom=freedom, prior=mean.prior)


def _relative_variances(spread: PairSpread) -> Array:
    """Return each level's variance over that of both, drawn towards 1 as far as the trials cannot tell."""
    mean = float(spread.squares.sum()) / spread.freedom
    if not mean:
        return np.ones(2)
    expected = mean * spread.mixing.sum(axis=1)
    apart = np.linalg.solve(spread.mixing + LEVELS_FREEDOM * np.eye(2), spread.squares - expected)
    relative: Array = np.maximum(LEAST_VARIANCE, 1 + apart / mean)
    return relative

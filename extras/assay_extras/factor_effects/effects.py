"""How much each factor, and each pair of factors, changes the elapsed time over a whole plan.

Logarithms of times are fitted by least squares: on that scale effects that multiply add up. The fit has a level for
each repetition of the plan, so what drifts between repetitions is not taken for an effect. Levels of a factor are coded
so that they add up to nothing: an effect is the distance from the average over levels.

Source: G. Box, J. Hunter and W. Hunter, Statistics for Experimenters (2005).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations as pairs_of
from math import exp
from typing import NamedTuple

import numpy as np

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.stats.noise import LEVEL, ConfidenceInterval, moderated
from assay.stats.sample import APART, MACHINE, PLACEMENT, Levels, TrialSample, combinations, in_order, varying_factors

MOST_COLUMNS = 400
"""Beyond this a fit takes longer than anyone reads of it."""


class LevelEffect(Frozen):
    """One level of a factor, or one of each of two: it takes `times` as long as the average over all levels.

    Of a pair of factors, that is what it takes beyond what both make by themselves. No interval where no residual
    degree of freedom is left.
    """

    levels: tuple[str, ...]
    times: float
    interval: ConfidenceInterval | None


class Effect(Frozen):
    """One factor or two: what each level does, and the share of all variation (0 to 1) that the fit loses without."""

    factors: tuple[str, ...]
    share: float
    levels: tuple[LevelEffect, ...]


class Effects(Frozen):
    """What explains the times of a plan's trials, `within` which some factors do not vary.

    `effects` are in the order of their shares, the largest first. `drift_share` is what differs between repetitions,
    `rest_share` what nothing here explains: chance, and effects of three factors together. `refused` says, each in a
    sentence, which effects can't be estimated, and why.
    """

    within: tuple[tuple[str, str], ...]
    effects: tuple[Effect, ...]
    drift_share: float
    rest_share: float
    refused: tuple[str, ...]

    @property
    def balanced(self) -> bool:
        """Whether the shares add up to 1: not where combinations are missing or repeated unequally."""
        return abs(sum(effect.share for effect in self.effects) + self.drift_share + self.rest_share - 1) < 1e-6


class _Term(NamedTuple):
    """One factor or two: `contrasts` turn coefficients into each level's effect.

    `codes` have a row for each combination, `places` which of the levels each has.
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    contrasts: Array
    codes: Array
    places: Array


def effects(
    finished: Sequence[TrialSample], within: Sequence[str] = (MACHINE,), prior: NoisePrior = SHIPPED_PRIOR
) -> list[Effects]:
    """One for each kind of machine, and each level of what else is `within` (such as `workload`).

    Trials of several runs are fitted apart for each run as well, as they took no turns. Zero storage delay is no level.
    """
    groups: dict[Levels, list[TrialSample]] = {}
    for factors, trials in combinations(finished).items():
        levels = dict(factors)
        if levels.get(PLACEMENT) != ZERO_DELAY:
            apart = [name for name in dict.fromkeys((*APART, *within)) if name in levels]
            groups.setdefault(tuple((name, levels[name]) for name in apart), []).extend(trials)
    return [_effects(group, levels, prior) for levels, group in groups.items()]


def _effects(finished: Sequence[TrialSample], within: tuple[tuple[str, str], ...], prior: NoisePrior) -> Effects:
    from scipy.special import stdtrit

    rows = {factors: row for row, factors in enumerate(combinations(finished))}
    row = np.array([rows[trial.factors] for trial in finished])
    blocks, block = np.unique([trial.repetition for trial in finished], return_inverse=True)
    counts = np.zeros((len(blocks), len(rows)))
    np.add.at(counts, (block, row), 1)
    # Products of combinations' columns with the blocks' means projected out.
    squares = np.diag(counts.sum(axis=0)) - counts.T @ (counts / counts.sum(axis=1, keepdims=True))
    logs = np.log([trial.elapsed_s for trial in finished])
    centred_logs = logs - (np.bincount(block, logs) / np.bincount(block))[block]
    columns = np.zeros((len(rows), 0))
    terms: list[tuple[_Term, slice]] = []
    refused: list[str] = []
    for term, why in _candidates([_main(name, list(rows)) for name in varying_factors(finished)], terms):
        wider = np.hstack([columns, term.codes])
        if why:
            refused.append(why)
        elif wider.shape[1] > MOST_COLUMNS:
            refused.append(f"the effect of {' and '.join(term.factors)} was left out: there are too many levels")
        elif np.linalg.matrix_rank(wider.T @ squares @ wider, hermitian=True) < wider.shape[1]:
            names = " and ".join(term.factors)
            refused.append(f"the effect of {names} can't be told: it varies only together with others")
        else:
            terms.append((term, slice(columns.shape[1], wider.shape[1])))
            columns = wider
    inverse = np.linalg.inv(columns.T @ squares @ columns)
    products = columns.T @ np.bincount(row, centred_logs)
    fitted = inverse @ products
    left = max(0.0, float(centred_logs @ centred_logs - fitted @ products))
    freedom = len(finished) - len(blocks) - columns.shape[1]
    if freedom < 1:
        refused.append("there are as many effects as trials: chance can't be told from them")
    noise = moderated(left, max(0, freedom), prior)
    width = float(stdtrit(noise.freedom, (1 + LEVEL) / 2)) * noise.deviation if freedom > 0 else None
    total = float(((logs - logs.mean()) ** 2).sum())
    named = [_effect(term, fitted[span], inverse[span, span], width, total) for term, span in terms]
    return Effects(
        within=within,
        effects=tuple(sorted(named, key=lambda effect: -effect.share)),
        drift_share=_share(total - float((centred_logs**2).sum()), total),
        rest_share=_share(left, total),
        refused=tuple(refused),
    )


def _candidates(mains: Sequence[_Term], accepted: Sequence[tuple[_Term, slice]]) -> Iterator[tuple[_Term, str]]:
    """Single factors, then pairs of those that were kept meanwhile, each with why it is refused, if it is."""
    yield from ((term, "") for term in mains)
    for (first, _), (second, _) in list(pairs_of(accepted, 2)):
        places = first.places * len(second.levels) + second.places
        both = _Term(
            factors=(*first.factors, *second.factors),
            levels=tuple((*level, *other) for level in first.levels for other in second.levels),
            contrasts=np.kron(first.contrasts, second.contrasts),
            codes=(first.codes[:, :, None] * second.codes[:, None, :]).reshape(len(first.codes), -1),
            places=places,
        )
        missing = len(both.levels) - len(np.unique(places))
        why = (
            f"whether {' and '.join(both.factors)} change each other's effect can't be told: {missing} of "
            f"{len(both.levels)} combinations of their levels are missing"
        )
        yield both, why if missing else ""


def _main(name: str, every: Sequence[Levels]) -> _Term:
    values = [dict(factors)[name] for factors in every]
    levels = in_order(values)
    contrasts = np.vstack([np.eye(len(levels) - 1), -np.ones((1, len(levels) - 1))])
    places = np.array([levels.index(value) for value in values])
    return _Term((name,), tuple((level,) for level in levels), contrasts, contrasts[places], places)


def _effect(term: _Term, fitted: Array, inverse: Array, width: float | None, total: float) -> Effect:
    """The squares that the fit loses without a term follow from its coefficients alone."""
    logs = term.contrasts @ fitted
    errors = np.einsum("ij,jk,ik->i", term.contrasts, inverse, term.contrasts) ** 0.5
    return Effect(
        factors=term.factors,
        share=_share(float(fitted @ np.linalg.solve(inverse, fitted)), total),
        levels=tuple(
            LevelEffect(
                levels=levels,
                times=exp(log),
                interval=ConfidenceInterval(low=exp(log - width * error), high=exp(log + width * error))
                if width
                else None,
            )
            for levels, log, error in zip(term.levels, logs, errors, strict=True)
        ),
    )


def _share(part: float, total: float) -> float:
    return min(1.0, max(0.0, part / total)) if total > 0 else 0.0

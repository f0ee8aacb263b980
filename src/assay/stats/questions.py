"""What a run asks: all comparisons of its trials, made once and corrected together, so that no two views disagree."""

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from assay.stats.comparison import Comparison, compare
from assay.stats.pairing import WORK
from assay.stats.planning import ALPHA
from assay.stats.ranks import least_rank_sum_p
from assay.stats.sample import MACHINE, PLACEMENT, Sample, combinations, varying_factors

MOST_PAIRED = 4
"""Of so many levels each is compared with each other: more would leave little that can be told."""
MOST_BESIDE = 300
"""Of more comparisons beside the question hardly one is told after correction; effects are shown all the same."""


class Asked(NamedTuple):
    """The comparisons of the run's question and of the factors beside it: one family, corrected for all together.

    `every` are the factors of which each level was compared with each other; of others, with the first one.
    """

    question: tuple[Comparison, ...]
    beside: tuple[Comparison, ...]
    every: frozenset[str]

    @property
    def all(self) -> tuple[Comparison, ...]:
        """Both."""
        return (*self.question, *self.beside)


def asked(found: Sequence[Sample]) -> Asked:
    """The question is the placement where that varies with all else equal, else all other factors.

    Beside the placement the other factors are compared, too, as long as they are few and leave repetitions enough to
    tell anything of the placement. What is compared never depends on the times.
    """
    varies = [name for name in varying_factors(found) if name not in (*WORK, MACHINE)]
    every = frozenset(name for name in varies if len({one.level(name) for one in found}) <= MOST_PAIRED)
    counts = {name: _comparisons(found, name, every=name in every) for name in varies}
    factors = [name for name in varies if name != PLACEMENT]
    if not counts.get(PLACEMENT):
        return Asked(tuple(compare(found, factors, every=every)), (), every)
    further = sum(counts[name] for name in factors)
    if not _room(found, counts[PLACEMENT], further):
        factors = []
    compared = compare(found, [PLACEMENT, *factors], every=every)
    question = tuple(one for one in compared if one.factor == PLACEMENT)
    return Asked(question, tuple(one for one in compared if one.factor != PLACEMENT), every)


def _room(found: Sequence[Sample], question: int, further: int) -> bool:
    """Whether so many further comparisons leave anything of the question that could be told without them."""
    usual = median_low([len(own) for own in combinations(found).values()])
    least = least_rank_sum_p(usual, usual)
    return further <= MOST_BESIDE and not ALPHA / (question + further) < least <= ALPHA / question


def _comparisons(found: Sequence[Sample], factor: str, *, every: bool) -> int:
    """How many there are of a factor, all else equal."""
    groups: dict[tuple[tuple[str, str], ...], set[str]] = {}
    for levels in {one.factors for one in found}:
        others = tuple(item for item in levels if item[0] != factor)
        groups.setdefault(others, set()).add(dict(levels)[factor])
    return sum(len(own) * (len(own) - 1) // 2 if every else len(own) - 1 for own in groups.values())

"""The order of a plan's trials: drift of the machine must hit all levels of all factors alike.

Each repetition is a block with every combination once. Within it the placements of one combination, which are what is
compared first of all, run directly after one another, and which of them begins changes from block to block. All other
factors are interleaved: each level's trials are spread evenly over the block.
"""

import random
from collections.abc import Iterator, Sequence

from assay.plan.factors import PLACEMENT
from assay.plan.grid import Combination

Shown = tuple[tuple[str, str], ...]
Group = list[Combination]


def blocks(combinations: Sequence[Combination], repetitions: int, seed: int) -> Iterator[list[Combination]]:
    """A list of all combinations for each repetition. The same seed gives the same order."""
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    groups = _groups(combinations)
    for group in groups:
        source.shuffle(group)
    factors = list(dict.fromkeys(name for one in combinations for name in one.shown if name != PLACEMENT))
    for repetition in range(repetitions):
        block = list(groups)
        source.shuffle(block)
        source.shuffle(factors)
        yield [one for group in _spread(block, factors, source) for one in _turned(group, repetition)]


def _groups(combinations: Sequence[Combination]) -> list[Group]:
    """Combinations that differ in their placement only."""
    found: dict[Shown, Group] = {}
    for one in combinations:
        others = tuple((name, text) for name, text in one.shown.items() if name != PLACEMENT)
        found.setdefault(others, []).append(one)
    return list(found.values())


def _turned(group: Group, repetition: int) -> Group:
    """Another one begins in each block; after all have, they run in the opposite order."""
    rounds, first = divmod(repetition, len(group))
    turned = group[first:] + group[:first]
    return turned[::-1] if rounds % 2 else turned


def _spread(groups: Sequence[Group], factors: Sequence[str], source: random.Random) -> list[Group]:
    """Groups so that each level of a factor comes as evenly as can be: those of each level in turn, however many.

    A level's groups are spread by the other factors first; the n-th of m then stands at about n/m of the whole.
    """
    if not factors or len(groups) < 2:
        return list(groups)
    factor, *others = factors
    by_level: dict[str, list[Group]] = {}
    for group in groups:
        by_level.setdefault(group[0].shown.get(factor, ""), []).append(group)
    if len(by_level) == 1:
        return _spread(groups, others, source)
    placed: list[tuple[float, Group]] = []
    for own in by_level.values():
        offset = source.random()
        placed += [((at + offset) / len(own), group) for at, group in enumerate(_spread(own, others, source))]
    return [group for _, group in sorted(placed, key=lambda one: one[0])]

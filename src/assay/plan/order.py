"""The order of a plan's trials: drift of the machine must hit all levels of all factors alike.

Each repetition is a block with every combination once; in the mirrored order twice, there and back. Within it the
placements of one combination, which are what is compared first of all, run directly after one another, and which of
them begins changes from block to block by rule. All other factors are interleaved: each level's trials are spread
evenly over the block, which of them come first by chance.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

from assay.model.trial import ZERO_DELAY
from assay.plan.grid import PLACEMENT, Combination

Labels = tuple[tuple[str, str], ...]
Group = list[Combination]

CANDIDATES = 24
"""So many of those that are left are looked at for the next place: a plan of 10,000 trials takes about a second."""


def blocks(combinations: Sequence[Combination], seed: int, *, mirrored: bool = False) -> Iterator[list[Combination]]:
    """A list of all combinations for each repetition, without end. The same seed gives the same order.

    In the mirrored order the first repetition begins with the placements as they are given: hdd, ssd, ssd, hdd.
    """
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    alike: dict[Labels, Group] = {}  # but for their placement
    for one in combinations:
        others = tuple((name, text) for name, text in one.labels.items() if name != PLACEMENT)
        alike.setdefault(others, []).append(one)
    groups = list(alike.values())
    if not mirrored:
        for group in groups:
            source.shuffle(group)
    turned = _there_and_back if mirrored else _turned
    for repetition in count():
        yield [one for group in _spread(groups, source) for one in turned(group, repetition)]


def _turned(group: Group, repetition: int) -> Group:
    """Another one begins in each block; after all have, they run in the opposite order."""
    rounds, first = divmod(repetition, len(group))
    turned = group[first:] + group[:first]
    return turned[::-1] if rounds % 2 else turned


def _there_and_back(group: Group, repetition: int) -> Group:
    """Each placement twice, as far from the middle on both sides; the zero-delay baseline once, in the middle."""
    baseline = [one for one in group if one.labels[PLACEMENT] == ZERO_DELAY]
    there = _turned([one for one in group if one.labels[PLACEMENT] != ZERO_DELAY], repetition)
    return [*there, *baseline, *there[::-1]]


def _spread(groups: Sequence[Group], source: random.Random) -> list[Group]:
    """Groups so that each level of each factor comes as evenly as can be.

    The next is always, of some left, one whose levels came least up to now, of what is their share of all.
    """
    left = list(groups)
    source.shuffle(left)
    levels = {id(group): [item for item in group[0].labels.items() if item[0] != PLACEMENT] for group in left}
    shares = {item: times / len(left) for item, times in Counter(one for own in levels.values() for one in own).items()}
    seen = dict.fromkeys(shares, 0)
    order: list[Group] = []
    while left:
        done = len(order)
        places = range(len(left)) if len(left) <= CANDIDATES else source.sample(range(len(left)), CANDIDATES)
        chosen = min(places, key=lambda at: sum(seen[level] - done * shares[level] for level in levels[id(left[at])]))
        left[chosen], left[-1] = left[-1], left[chosen]
        group = left.pop()
        for one in levels[id(group)]:
            seen[one] += 1
        order.append(group)
    return order

"""The order of a plan's trials: drift of the machine must hit all levels of all factors alike.

Each repetition is a block with every combination once; in the mirrored order twice, there and back. Within it what is
compared first of all, the placements of one combination or the changes of one base, runs directly after one another,
and which of them begins changes from block to block by rule. All other factors are interleaved: each level's trials
are spread evenly over the block, which of them come first by chance.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import count

from assay.model.trial import ZERO_DELAY
from assay.plan.grid import PLACEMENT, Combination

Labels = tuple[tuple[str, str], ...]
Group = list[Combination]
"""Combinations that differ only in what is compared first of all."""

CANDIDATES = 24
"""How many of the remaining groups are considered for the next place: a plan of 10,000 trials takes about a second."""


def blocks(
    combinations: Sequence[Combination], seed: int, compared: Collection[str] = (PLACEMENT,), *, mirrored: bool = False
) -> Iterator[list[Combination]]:
    """Yield a list of all combinations for each repetition, without end. The same seed gives the same order.

    Levels of the `compared` factors run together. In the mirrored order the first repetition begins with them as they
    are given: hdd, ssd, ssd, hdd.
    """
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    alike: dict[Labels, Group] = {}
    for combination in combinations:
        others = tuple((name, text) for name, text in combination.labels.items() if name not in compared)
        alike.setdefault(others, []).append(combination)
    groups = list(alike.values())
    if not mirrored:
        for group in groups:
            source.shuffle(group)
    turned = _there_and_back if mirrored else _turned
    for repetition in count():
        yield [combination for group in _spread(groups, compared, source) for combination in turned(group, repetition)]


def _turned(group: Group, repetition: int) -> Group:
    """Let another combination begin in each block; once each has begun, they run in the opposite order."""
    rounds, first = divmod(repetition, len(group))
    turned = group[first:] + group[:first]
    return turned[::-1] if rounds % 2 else turned


def _there_and_back(group: Group, repetition: int) -> Group:
    """Order each combination twice, mirrored at the middle, where the zero-delay baseline stands once."""
    baseline = [combination for combination in group if combination.labels[PLACEMENT] == ZERO_DELAY]
    there = _turned([combination for combination in group if combination.labels[PLACEMENT] != ZERO_DELAY], repetition)
    return [*there, *baseline, *there[::-1]]


def _spread(groups: Sequence[Group], compared: Collection[str], source: random.Random) -> list[Group]:
    """Order groups so that the levels of each factor are spread as evenly as possible.

    The next group is, among some that are left, the one whose levels lag most behind their share of all groups.
    """
    left = list(groups)
    source.shuffle(left)
    levels = {id(group): [item for item in group[0].labels.items() if item[0] not in compared] for group in left}
    counts = Counter(level for group_levels in levels.values() for level in group_levels)
    shares = {level: count / len(left) for level, count in counts.items()}
    placed = dict.fromkeys(shares, 0)
    order: list[Group] = []
    while left:
        done = len(order)
        candidates = range(len(left)) if len(left) <= CANDIDATES else source.sample(range(len(left)), CANDIDATES)
        chosen = min(
            candidates, key=lambda at: sum(placed[name] - done * shares[name] for name in levels[id(left[at])])
        )
        left[chosen], left[-1] = left[-1], left[chosen]
        group = left.pop()
        for level in levels[id(group)]:
            placed[level] += 1
        order.append(group)
    return order

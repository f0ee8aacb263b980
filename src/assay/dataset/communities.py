"""Dense groups of vertices: where a social network's triangles are.

Each vertex spends a share of its degree in communities whose members are tied with a fixed probability (after the
affinity blocks of BTER: Seshadhri, Kolda, Pinar, Phys. Rev. E 85, 2012). A vertex of low degree belongs to one
community of vertices like it; one that would need more than `largest` members belongs to several of that size, so
that communities overlap.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.dataset.canonical import Keys, distinct, pack
from assay.dataset.randomness import Source

_CELLS = 1 << 22


def community_edges(budget: NDArray[np.float64], largest: int, density: float, random: Source) -> Iterator[Keys]:
    """Packed edges, a chunk at a time, each sorted and distinct; chunks may share edges.

    `budget` is how many edges each vertex should have in communities (its index is its number).
    """
    vertex, size = _memberships(budget, largest, density, random)
    bounds = np.flatnonzero(np.diff(size)) + 1
    for members, group in zip(
        np.split(vertex, bounds), size[np.concatenate(([0], bounds))] if size.size else [], strict=False
    ):
        whole = members.size // group * group
        yield from _dense(members[:whole].reshape(-1, group), density, random)
        if members.size - whole > 2:
            yield from _dense(members[whole:].reshape(1, -1), density, random)


def _memberships(
    budget: NDArray[np.float64], largest: int, density: float, random: Source
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Vertices, each as often as it is a member, and the size of its community: by size, in random order within one."""
    wanted = budget / density + 1.0
    whole = np.floor(wanted).astype(np.int64)
    size = np.clip(whole + (random.fractions(wanted.size) < wanted - whole), 3, largest)
    copies = budget / ((size - 1) * density)
    copies = np.where((wanted >= 3.0) & (wanted < largest), 1.0, copies)
    times = np.floor(copies)
    count = (times + (random.fractions(copies.size) < copies - times)).astype(np.int64)
    vertex = np.repeat(np.arange(budget.size, dtype=np.int32), count)
    size = np.repeat(size, count)
    order = np.argsort((size.astype(np.uint64) << np.uint64(40)) | (random.raw(size.size) >> np.uint64(24)))
    return vertex[order], size[order]


def _dense(groups: NDArray[np.int32], density: float, random: Source) -> Iterator[Keys]:
    """The edges of groups of one size, shape (groups, members): each pair with probability `density`."""
    left, right = np.triu_indices(groups.shape[1], 1)
    step = max(1, _CELLS // max(1, left.size))
    for start in range(0, groups.shape[0], step):
        some = groups[start : start + step]
        tied = random.chance(density, some.shape[0] * left.size).reshape(some.shape[0], left.size)
        group, pair = np.nonzero(tied)
        yield simple_keys(some[group, left[pair]], some[group, right[pair]])


def simple_keys(one: NDArray[np.integer], other: NDArray[np.integer]) -> Keys:
    """Pairs of vertices as sorted, distinct, packed edges without loops."""
    low = np.minimum(one, other).astype(np.uint64)
    high = np.maximum(one, other).astype(np.uint64)
    return distinct(pack(low, high)[low != high])

"""The model of a social network that stands in for a real one: exact in nodes and edges, near in what decides the work.

1. A degree sequence with the heavy tail that gives the number of wedges (`degrees`).
2. A random recursive tree, each vertex tied to one of larger degree: one main component of small diameter.
3. Communities that spend a share of the remaining degrees: triangles (`communities`).
4. The rest of the degrees paired at random; a share of the pairs ties large with small ("mirrored"), which keeps
   hubs from forming triangles among themselves, as in networks of subscribers.
5. Small components: paths and cycles.
6. Ids given in an order that depends on the degree in part, as in crawled networks, where early ids are hubs: it
   decides how many wedges an algorithm lists that directs edges by id.

Everything is drawn from `randomness.Source`, so the same seed gives the same graph everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.dataset.canonical import Keys, distinct, drop_repeated, joined, pack, unpack
from assay.dataset.communities import community_edges, simple_keys
from assay.dataset.degrees import Degrees, degree_sequence
from assay.dataset.randomness import Source
from assay.model.base import Frozen

_CHUNK = 1 << 22
_BATCH = 1 << 24
_WORTHWHILE = 3
_JITTER = 0.05
_TREE, _COMMUNITIES, _PAIRS, _TRIM, _SMALL, _IDS = range(6)


class Shape(Frozen):
    """What to generate. Counts are of the whole graph; the other fields steer the model.

    `wedges` is aimed at. `components` counts all, `largest_component` the vertices of the main one. `community_share`
    is the part of degrees spent in communities of at most `community_size` members and `community_density`;
    `mirrored` the part of random pairs that tie large with small degrees; `id_order` (quarters) how strongly early
    ids are hubs: 0 not at all, 4 in proportion to the degree.
    """

    nodes: int
    edges: int
    wedges: int
    max_degree: int
    components: int
    largest_component: int
    community_share: float
    community_size: int
    community_density: float
    mirrored: float
    id_order: int


class _Small(NamedTuple):
    keys: Keys
    degrees: Degrees


def generate(shape: Shape, seed: int) -> Keys:
    """The packed, sorted, distinct edges of a graph with exactly `shape.nodes` vertices, 0 to nodes - 1, none lone."""
    small = _small_components(shape, Source(seed, _SMALL))
    edges = shape.edges - small.keys.size
    squares = 2 * shape.wedges + 2 * shape.edges - int((small.degrees**2).sum())
    degrees = degree_sequence(shape.largest_component, 2 * edges, squares, shape.max_degree)
    keys = _main_component(degrees, edges, shape, seed)
    keys = joined([small.keys, keys])
    return _renumber(keys, np.concatenate((degrees, small.degrees)), shape.id_order, Source(seed, _IDS))


def _small_components(shape: Shape, random: Source) -> _Small:
    """Paths of two vertices and more; every second one of at least three is closed. Numbers follow the main ones."""
    count = shape.components - 1
    total = shape.nodes - shape.largest_component
    if not count:
        return _Small(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))
    size = 2 + np.bincount(random.below(count, total - 2 * count), minlength=count)
    first = np.concatenate(([0], np.cumsum(size)[:-1]))
    inner = np.ones(total, dtype=np.bool_)
    inner[first] = False
    later = np.flatnonzero(inner)
    closed = np.flatnonzero((size >= 3) & (np.arange(count) % 2 == 0))
    ends = np.concatenate((later - 1, first[closed])), np.concatenate((later, first[closed] + size[closed] - 1))
    degrees = np.bincount(np.concatenate(ends), minlength=total)
    keys = simple_keys(ends[0] + shape.largest_component, ends[1] + shape.largest_component)
    return _Small(keys, degrees.astype(np.int64))


def _main_component(degrees: Degrees, edges: int, shape: Shape, seed: int) -> Keys:
    parent = _tree(degrees, Source(seed, _TREE))
    tree = simple_keys(parent, np.arange(1, degrees.size))
    rest = degrees - np.bincount(parent, minlength=degrees.size) - 1
    rest[0] += 1
    rest = np.maximum(rest, 0)
    dense = _trim(_without(_communities(rest, shape, seed), tree), edges - tree.size, Source(seed, _TRIM))
    for start in range(0, dense.size, _CHUNK):
        for end in unpack(dense[start : start + _CHUNK]):
            rest -= np.bincount(end.astype(np.int64), minlength=rest.size)
    chunks = [tree, dense]
    del tree, dense  # at a hundred million edges every array that is kept counts
    return _pair_up(distinct(joined(chunks)), np.maximum(rest, 0), edges, shape.mirrored, Source(seed, _PAIRS))


def _tree(degrees: Degrees, random: Source) -> NDArray[np.int64]:
    """The parent of each vertex but the first: a vertex before it, by chance in proportion to its degree less one."""
    weight = degrees - 1
    weight[0] += 1
    upto = np.cumsum(weight)
    drawn = random.below(upto[:-1], degrees.size - 1)
    return np.searchsorted(upto, drawn, side="right")


def _communities(rest: Degrees, shape: Shape, seed: int) -> Keys:
    budget = rest.astype(np.float64) * shape.community_share
    chunks = list(community_edges(budget, shape.community_size, shape.community_density, Source(seed, _COMMUNITIES)))
    return distinct(joined(chunks))


def _pair_up(keys: Keys, stubs: Degrees, edges: int, mirrored: float, random: Source) -> Keys:
    """Adds random edges, by the degrees that are left, until there are exactly `edges`."""
    open_ends = np.repeat(np.arange(stubs.size, dtype=np.int32), stubs)
    while missing := min(edges - keys.size, _BATCH):
        new = np.empty(0, dtype=np.uint64)
        if open_ends.size > 1:
            counts = (min(_CHUNK, missing - start) for start in range(0, missing, _CHUNK))
            new = distinct(joined([_pairs(open_ends, count, mirrored, random) for count in counts]))
            new = _without(new, keys)
        if new.size * _WORTHWHILE < missing:  # the open ends are used up among themselves: any vertices will do
            open_ends, mirrored = np.arange(stubs.size, dtype=np.int32), 0.0
        keys = np.concatenate((keys, new))
        keys.sort(kind="stable")
    return keys


def _pairs(open_ends: NDArray[np.int32], count: int, mirrored: float, random: Source) -> Keys:
    one = random.below(open_ends.size, count)
    other = random.below(open_ends.size, count)
    opposite = random.chance(mirrored, count)
    reach = int(open_ends.size * _JITTER)
    across = open_ends.size - 1 - one[opposite] + other[opposite] * (2 * reach) // open_ends.size - reach
    other[opposite] = np.clip(across, 0, open_ends.size - 1)
    return simple_keys(open_ends[one], open_ends[other])


def _without(keys: Keys, present: Keys) -> Keys:
    """The keys that aren't in `present`; both sorted."""
    if not present.size or not keys.size:
        return keys
    fresh = np.empty(keys.size, dtype=np.bool_)
    for start in range(0, keys.size, _CHUNK):
        some = keys[start : start + _CHUNK]
        place = np.minimum(np.searchsorted(present, some), present.size - 1)
        np.not_equal(present[place], some, out=fresh[start : start + _CHUNK])
    return keys[fresh]


def _trim(keys: Keys, most: int, random: Source) -> Keys:
    """At most `most` of the keys, chosen at random."""
    if keys.size <= most:
        return keys
    keep = np.argsort(random.raw(keys.size), kind="stable")[:most]
    return keys[np.sort(keep)]


def _renumber(keys: Keys, degrees: Degrees, order: int, random: Source) -> Keys:
    """Gives the vertices their ids: early with some preference for large degrees."""
    quarter = np.sqrt(np.sqrt(degrees.astype(np.float64)))
    weight = np.ones(degrees.size)
    for _ in range(order):
        weight *= quarter
    rank = np.argsort(random.fractions(degrees.size) / weight, kind="stable")
    ids = np.empty(degrees.size, dtype=np.uint64)
    ids[rank] = np.arange(degrees.size, dtype=np.uint64)
    for start in range(0, keys.size, _CHUNK):
        one, other = unpack(keys[start : start + _CHUNK])
        one, other = ids[one.astype(np.int64)], ids[other.astype(np.int64)]
        keys[start : start + _CHUNK] = pack(np.minimum(one, other), np.maximum(one, other))
    keys.sort()
    return drop_repeated(keys)

"""Graphs that are generated from a seed: stand-ins for published ones, for use without a network.

numpy promises the raw 64-bit output of a bit generator for ever, but not what `Generator` makes of it (NEP 19). So only
`PCG64.random_raw` is used here, and integers and choices are derived from it with exact arithmetic.

The number of vertices of degree d is proportional to (d + shift)^-gamma for 1 <= d <= largest: a power law whose head
is bent by `shift` (Mandelbrot's form). `gamma` gives the mean, `shift` the mean square.

Each vertex spends a share of its degree in communities whose members are tied with a fixed probability (after the
affinity blocks of BTER: Seshadhri, Kolda, Pinar, Phys. Rev. E 85, 2012). A vertex of low degree belongs to one
community of vertices like it; one that would need more than `largest` members belongs to several of that size, so
that communities overlap.

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

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from assay.input.graph import Keys, distinct, drop_repeated, joined, pack, unpack
from assay.model.base import Frozen

Raw = NDArray[np.uint64]


class RandomSource:
    """A seeded stream of random numbers; `stream` tells independent ones of a seed apart."""

    def __init__(self, seed: int, stream: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, stream]))

    def raw(self, size: int) -> Raw:
        """Draw uniform 64-bit numbers."""
        return np.asarray(self._bits.random_raw(size), dtype=np.uint64)

    def fractions(self, size: int) -> NDArray[np.float64]:
        """Draw multiples of 2^-53, uniform in [0, 1)."""
        return (self.raw(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limits: NDArray[np.int64] | int, size: int) -> NDArray[np.int64]:
        """Draw whole numbers, uniform from 0 to each limit - 1 (limits below 2^40, which rounding never reaches)."""
        return (self.fractions(size) * limits).astype(np.int64)

    def chance(self, probability: float, size: int) -> NDArray[np.bool_]:
        """Draw booleans that are true with the given probability."""
        if probability >= 1.0:
            return np.ones(size, dtype=np.bool_)
        return np.asarray(self.raw(size) < np.uint64(int(probability * 2.0**64)))


Degrees = NDArray[np.int64]
Shares = NDArray[np.float64]


def degree_sequence(nodes: int, total: int, squares: int, largest: int) -> Degrees:
    """Make `nodes` degrees in descending order, each at least 1, whose sum is exactly `total`.

    The sum of squares comes as near to `squares` as the form and `largest` allow. The parameters are rounded before
    they are used, so that the last digits of a machine's arithmetic don't matter.
    """
    degree = np.arange(1, largest + 1, dtype=np.float64)
    mean, mean_square = total / nodes, squares / nodes

    def too_low(logarithm: float) -> bool:
        shift = float(np.exp(logarithm)) - 1.0
        shares = _shares(np.log(degree + shift), _gamma(degree, shift, mean))
        return _mean(shares, degree * degree) > mean_square

    # The shift that gives the mean square: with the mean held, squares fall with it.
    shift = float(np.exp(_bisected(too_low, np.log(0.02), np.log(1e4), steps=24))) - 1.0
    shares = _shares(np.log(degree + round(shift, 5)), round(_gamma(degree, shift, mean), 6))
    at_least = np.floor(np.cumsum(shares[::-1])[::-1] * nodes + 0.5).astype(np.int64)
    at_least[0] = nodes
    sequence = np.searchsorted(-at_least, -np.arange(1, nodes + 1), side="right").astype(np.int64)
    # Degrees are raised or lowered by one, spread evenly over the vertices that can bear it, until the sum is right.
    while missing := total - int(sequence.sum()):
        able = np.flatnonzero(sequence > 1)
        if not able.size:
            able = np.arange(sequence.size)
        count = min(abs(missing), able.size)
        chosen = able[np.arange(count, dtype=np.int64) * able.size // count]
        sequence[chosen] += 1 if missing > 0 else -1
    return np.sort(sequence)[::-1].copy()


def _shares(logarithm: Shares, gamma: float) -> Shares:
    """Return the share of each degree, from the logarithms of degree + shift."""
    weight = np.exp(gamma * (logarithm[0] - logarithm))
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def _gamma(degree: Shares, shift: float, mean: float) -> float:
    """Find the exponent that gives the mean, by bisection: the mean falls with it."""
    logarithm = np.log(degree + shift)
    return _bisected(lambda gamma: _mean(_shares(logarithm, gamma), degree) > mean, 0.0, 40.0 + 4.0 * shift, steps=48)


def _mean(shares: Shares, values: Shares) -> float:
    """Return the mean of values without BLAS, whose threads and rounding differ from machine to machine."""
    return float((shares * values).sum())


def _bisected(too_low: Callable[[float], bool], low: float, high: float, steps: int) -> float:
    """Find where `too_low` turns from true to false between two numbers."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2


_CELLS = 1 << 22


def community_edges(budget: NDArray[np.float64], largest: int, density: float, random: RandomSource) -> Iterator[Keys]:
    """Yield packed edges, a chunk at a time, each sorted and distinct; chunks may share edges.

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
    budget: NDArray[np.float64], largest: int, density: float, random: RandomSource
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return vertices, each once per membership, and the sizes of their communities, in random order by size."""
    expected_size = budget / density + 1.0
    whole = np.floor(expected_size).astype(np.int64)
    size = np.clip(whole + (random.fractions(expected_size.size) < expected_size - whole), 3, largest)
    copies = budget / ((size - 1) * density)
    copies = np.where((expected_size >= 3.0) & (expected_size < largest), 1.0, copies)
    times = np.floor(copies)
    count = (times + (random.fractions(copies.size) < copies - times)).astype(np.int64)
    vertex = np.repeat(np.arange(budget.size, dtype=np.int32), count)
    size = np.repeat(size, count)
    order = np.argsort((size.astype(np.uint64) << np.uint64(40)) | (random.raw(size.size) >> np.uint64(24)))
    return vertex[order], size[order]


def _dense(groups: NDArray[np.int32], density: float, random: RandomSource) -> Iterator[Keys]:
    """Draw the edges of groups of one size, shape (groups, members): each pair with probability `density`."""
    left, right = np.triu_indices(groups.shape[1], 1)
    step = max(1, _CELLS // max(1, left.size))
    for start in range(0, groups.shape[0], step):
        some = groups[start : start + step]
        tied = random.chance(density, some.shape[0] * left.size).reshape(some.shape[0], left.size)
        group, pair = np.nonzero(tied)
        yield simple_keys(some[group, left[pair]], some[group, right[pair]])


def simple_keys(left: NDArray[np.integer], right: NDArray[np.integer]) -> Keys:
    """Turn pairs of vertices into sorted, distinct, packed edges without loops."""
    low = np.minimum(left, right).astype(np.uint64)
    high = np.maximum(left, right).astype(np.uint64)
    return distinct(pack(low, high)[low != high])


_CHUNK = 1 << 22
_BATCH = 1 << 24
_WORTHWHILE = 3
_JITTER = 0.05
_TREE, _COMMUNITIES, _PAIRS, _TRIM, _SMALL, _IDS = range(6)


class Steering(Frozen):
    """What the generator needs beside the published counts of nodes and edges.

    `wedges` and `triangles` are aimed at. `components` counts all, `largest_component` the vertices of the main one.
    `community_share` is the part of degrees spent in communities of at most `community_size` members and
    `community_density`; `mirrored` the part of random pairs that tie large with small degrees; `id_order` (quarters)
    how strongly early ids are hubs: 0 not at all, 4 in proportion to the degree.
    """

    wedges: int
    triangles: int
    max_degree: int
    components: int
    largest_component: int
    community_share: float
    community_size: int
    community_density: float
    mirrored: float
    id_order: int


class GraphShape(Steering):
    """What to generate. Counts are of the whole graph; the other fields steer the model."""

    nodes: int
    edges: int


def generate(shape: GraphShape, seed: int) -> Keys:
    """Generate packed, sorted, distinct edges that name each of the vertices 0 to `shape.nodes` - 1."""
    small, small_degrees = _small_components(shape, RandomSource(seed, _SMALL))
    edges = shape.edges - small.size
    squares = 2 * shape.wedges + 2 * shape.edges - int((small_degrees**2).sum())
    degrees = degree_sequence(shape.largest_component, 2 * edges, squares, shape.max_degree)
    keys = _main_component(degrees, edges, shape, seed)
    keys = joined([small, keys])
    return _renumber(keys, np.concatenate((degrees, small_degrees)), shape.id_order, RandomSource(seed, _IDS))


def _small_components(shape: GraphShape, random: RandomSource) -> tuple[Keys, Degrees]:
    """Make edges and degrees of paths of two vertices and more; every second path of at least three is closed.

    Numbers follow those of the main component.
    """
    count = shape.components - 1
    total = shape.nodes - shape.largest_component
    if not count:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    size = 2 + np.bincount(random.below(count, total - 2 * count), minlength=count)
    first = np.concatenate(([0], np.cumsum(size)[:-1]))
    inner = np.ones(total, dtype=np.bool_)
    inner[first] = False
    later = np.flatnonzero(inner)
    closed = np.flatnonzero((size >= 3) & (np.arange(count) % 2 == 0))
    ends = np.concatenate((later - 1, first[closed])), np.concatenate((later, first[closed] + size[closed] - 1))
    degrees = np.bincount(np.concatenate(ends), minlength=total)
    keys = simple_keys(ends[0] + shape.largest_component, ends[1] + shape.largest_component)
    return keys, degrees.astype(np.int64)


def _main_component(degrees: Degrees, edges: int, shape: GraphShape, seed: int) -> Keys:
    # The parent of each vertex but the first: a vertex before it, by chance in proportion to its degree less one.
    weight = degrees - 1
    weight[0] += 1
    upto = np.cumsum(weight)
    drawn = RandomSource(seed, _TREE).below(upto[:-1], degrees.size - 1)
    parent = np.searchsorted(upto, drawn, side="right")
    tree = simple_keys(parent, np.arange(1, degrees.size))
    rest = degrees - np.bincount(parent, minlength=degrees.size) - 1
    rest[0] += 1
    rest = np.maximum(rest, 0)
    budget, source = rest.astype(np.float64) * shape.community_share, RandomSource(seed, _COMMUNITIES)
    chunks = list(community_edges(budget, shape.community_size, shape.community_density, source))
    dense = _without(distinct(joined(chunks)), tree)
    most = edges - tree.size
    if dense.size > most:
        chosen = np.argsort(RandomSource(seed, _TRIM).raw(dense.size), kind="stable")[:most]
        dense = dense[np.sort(chosen)]
    for start in range(0, dense.size, _CHUNK):
        for end in unpack(dense[start : start + _CHUNK]):
            rest -= np.bincount(end.astype(np.int64), minlength=rest.size)
    chunks = [tree, dense]
    del tree, dense  # at a hundred million edges every array that is kept counts
    return _pair_up(distinct(joined(chunks)), np.maximum(rest, 0), edges, shape.mirrored, RandomSource(seed, _PAIRS))


def _pair_up(keys: Keys, stubs: Degrees, edges: int, mirrored: float, random: RandomSource) -> Keys:
    """Add random edges, by the degrees that are left, until there are exactly `edges`."""
    open_ends = np.repeat(np.arange(stubs.size, dtype=np.int32), stubs)
    while missing := min(edges - keys.size, _BATCH):
        new = np.empty(0, dtype=np.uint64)
        if open_ends.size > 1:
            drawn = []
            for start in range(0, missing, _CHUNK):
                count = min(_CHUNK, missing - start)
                left, right = random.below(open_ends.size, count), random.below(open_ends.size, count)
                opposite = random.chance(mirrored, count)
                reach = int(open_ends.size * _JITTER)
                across = open_ends.size - 1 - left[opposite] + right[opposite] * (2 * reach) // open_ends.size - reach
                right[opposite] = np.clip(across, 0, open_ends.size - 1)
                drawn.append(simple_keys(open_ends[left], open_ends[right]))
            new = _without(distinct(joined(drawn)), keys)
        if new.size * _WORTHWHILE < missing:  # the open ends are used up among themselves: any vertices will do
            open_ends, mirrored = np.arange(stubs.size, dtype=np.int32), 0.0
        keys = np.concatenate((keys, new))
        keys.sort(kind="stable")
    return keys


def _without(keys: Keys, present: Keys) -> Keys:
    """Return the keys that aren't in `present`; both are sorted."""
    if not present.size or not keys.size:
        return keys
    fresh = np.empty(keys.size, dtype=np.bool_)
    for start in range(0, keys.size, _CHUNK):
        some = keys[start : start + _CHUNK]
        index = np.minimum(np.searchsorted(present, some), present.size - 1)
        np.not_equal(present[index], some, out=fresh[start : start + _CHUNK])
    return keys[fresh]


def _renumber(keys: Keys, degrees: Degrees, order: int, random: RandomSource) -> Keys:
    """Give the vertices their ids: early ids with some preference for large degrees."""
    quarter = np.sqrt(np.sqrt(degrees.astype(np.float64)))
    weight = np.ones(degrees.size)
    for _ in range(order):
        weight *= quarter
    rank = np.argsort(random.fractions(degrees.size) / weight, kind="stable")
    ids = np.empty(degrees.size, dtype=np.uint64)
    ids[rank] = np.arange(degrees.size, dtype=np.uint64)
    for start in range(0, keys.size, _CHUNK):
        left, right = unpack(keys[start : start + _CHUNK])
        left, right = ids[left.astype(np.int64)], ids[right.astype(np.int64)]
        keys[start : start + _CHUNK] = pack(np.minimum(left, right), np.maximum(left, right))
    keys.sort()
    return drop_repeated(keys)

"""Canonical edges of a graph, and its counts.

An edge u < v is `u << 32 | v`, so that one in-place sort orders edges as the normal form does, and 117 million edges
take 0.94 GB. Where ids don't fit 32 bits, the pairs are kept and renumbered in order at the end.

Edges are directed from the smaller to the larger (degree, number); each pair of edges out of one vertex is closed or
not, which is looked up in the sorted edges. In that order the pairs are few (Schank and Wagner, WEA 2005).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.model.dataset import Graph, GraphFacts

Keys = NDArray[np.uint64]
Ids = NDArray[np.uint64]

_LOW = np.uint64(0xFFFF_FFFF)
_SHIFT = np.uint64(32)
_CHUNK = 1 << 22
_RUN = 1 << 23
_NONE = np.empty(0, dtype=np.int64)


class Simple(NamedTuple):
    """A simple graph: `keys` packed as above; `table` maps the packed numbers to ids (None: they are the ids)."""

    keys: Keys
    lone: NDArray[np.int64] = _NONE
    table: Ids | None = None
    loops: int = 0
    duplicates: int = 0


def pack(low: Ids, high: Ids) -> Keys:
    """Pack edges into numbers; both ends are below 2^32 and low < high."""
    return np.asarray((low << _SHIFT) | high, dtype=np.uint64)


def unpack(keys: Keys) -> tuple[Ids, Ids]:
    """Return the smaller and the larger end of each edge."""
    return keys >> _SHIFT, keys & _LOW


def distinct(keys: Keys) -> Keys:
    """Sort and remove repetitions in place; the result is a view of `keys`."""
    keys.sort()
    return drop_repeated(keys)


def drop_repeated(keys: Keys) -> Keys:
    """Remove repetitions from sorted keys in place, a chunk at a time; the result is a view of `keys`."""
    distinct_count = 0
    previous: np.uint64 | None = None
    for start in range(0, keys.size, _CHUNK):
        chunk = keys[start : start + _CHUNK]
        fresh = np.empty(chunk.size, dtype=np.bool_)
        fresh[0] = previous is None or chunk[0] != previous
        np.not_equal(chunk[1:], chunk[:-1], out=fresh[1:])
        previous = chunk[-1].copy()
        some = chunk[fresh]
        keys[distinct_count : distinct_count + some.size] = some
        distinct_count += some.size
    return keys[:distinct_count]


class Collector:
    """Takes edges as they are read, in any order and direction, and gives the simple graph."""

    def __init__(self) -> None:
        self._narrow: list[Keys] = []
        self._fresh: list[Keys] = []
        self._wide: list[Ids] = []
        self._alone: list[Ids] = []
        self._read = 0
        self._loops = 0

    def add(self, pairs: Ids) -> None:
        """Add edges of shape (k, 2); loops are counted and dropped, their vertices remembered."""
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        loop = low == high
        self._read += low.size
        if loop.any():
            self._loops += int(loop.sum())
            self._alone.append(np.unique(low[loop]))
            low, high = low[~loop], high[~loop]
        if not low.size:
            return
        if high.max() > _LOW:
            self._wide.append(np.unique(np.column_stack((low, high)), axis=0))
        else:
            self._fresh.append(pack(low, high))
            if sum(keys.size for keys in self._fresh) > _RUN:
                self._end_run()

    def _end_run(self) -> None:
        """Remove the repetitions so far. Runs are so long that their memory goes back to the system, not to a heap."""
        self._narrow.append(distinct(joined(self._fresh)).copy())

    def add_lone(self, ids: Ids) -> None:
        """Add vertices that are named alone; they are lone unless an edge names them too."""
        if ids.size:
            self._alone.append(np.unique(ids))

    def finish(self) -> Simple:
        """Return the simple graph of all that was added. The collector is empty afterwards."""
        self._end_run()
        table = None
        if self._wide:
            # Wide pairs, and the narrow ones beside them, become keys of vertex ranks.
            pairs = self._wide + [np.column_stack(unpack(keys)) for keys in self._narrow]
            self._wide, self._narrow = [], []
            table = np.unique(np.concatenate([np.unique(chunk) for chunk in pairs]))
            while pairs:
                ranks = np.searchsorted(table, pairs.pop()).astype(np.uint64)
                self._narrow.append(distinct(pack(ranks[:, 0], ranks[:, 1])))
        keys = distinct(joined(self._narrow))
        lone = _NONE
        if self._alone:
            lone = np.setdiff1d(np.concatenate(self._alone), vertices(keys) if table is None else table)
        duplicates = self._read - self._loops - keys.size
        return Simple(keys, lone.astype(np.int64), table, self._loops, duplicates)


def vertices(keys: Keys) -> Ids:
    """Collect the vertices of the edges, sorted, a chunk at a time."""
    chunks = [np.unique(np.concatenate(unpack(keys[start : start + _CHUNK]))) for start in range(0, keys.size, _CHUNK)]
    return np.unique(np.concatenate(chunks)) if chunks else np.empty(0, dtype=np.uint64)


def joined(chunks: list[Keys]) -> Keys:
    """Join all chunks into one array; each is given back to the system as it is copied."""
    whole = np.empty(sum(chunk.size for chunk in chunks), dtype=np.uint64)
    start = 0
    while chunks:
        chunk = chunks.pop()
        whole[start : start + chunk.size] = chunk
        start += chunk.size
    return whole


def as_graph(simple: Simple) -> Graph:
    """Return the graph in the form that verifiers take: 16 bytes an edge."""
    edges = np.empty((simple.keys.size, 2), dtype=np.int64)
    for start in range(0, simple.keys.size, _CHUNK):
        low, high = unpack(simple.keys[start : start + _CHUNK])
        rows = edges[start : start + _CHUNK]
        rows[:, 0] = low if simple.table is None else simple.table[low]
        rows[:, 1] = high if simple.table is None else simple.table[high]
    return Graph(edges, simple.lone)


def count_triangles(simple: Simple, most_pairs: int | None = None) -> int | None:
    """Count the triangles; None if more than `most_pairs` pairs of edges would have to be looked up.

    Takes about 0.2 seconds and a bounded amount of memory for a million pairs, beside 32 bytes an edge.
    """
    if not simple.keys.size:
        return 0
    table = vertices(simple.keys)
    low, high = (np.searchsorted(table, end) for end in unpack(simple.keys))
    degree = np.bincount(low, minlength=table.size) + np.bincount(high, minlength=table.size)
    rank = np.empty(table.size, dtype=np.uint64)
    rank[np.argsort(degree, kind="stable")] = np.arange(table.size, dtype=np.uint64)
    left, right = rank[low], rank[high]
    keys = np.sort(pack(np.minimum(left, right), np.maximum(left, right)))
    tails, heads = unpack(keys)
    last = np.cumsum(np.bincount(tails.astype(np.int64), minlength=table.size))[tails.astype(np.int64)]
    following = last - np.arange(1, keys.size + 1)  # how many edges with the same tail come after each
    if most_pairs is not None and following.sum() > most_pairs:
        return None
    bounds = np.searchsorted(np.cumsum(following), np.arange(_CHUNK, following.sum() + _CHUNK, _CHUNK))
    total, start = 0, 0
    for bound in bounds:
        end = min(int(bound) + 1, keys.size)
        count = following[start:end]
        first = np.repeat(np.arange(start, end), count)
        offset = np.arange(first.size) - np.repeat(np.cumsum(count) - count, count)
        closing_edges = pack(heads[first], heads[first + 1 + offset])
        index = np.minimum(np.searchsorted(keys, closing_edges), keys.size - 1)
        total += int((keys[index] == closing_edges).sum())
        start = end
    return total


Counts = NDArray[np.int64]

_QUICK_EDGES = 5_000_000
_QUICK_PAIRS = 30_000_000


def _numbering(simple: Simple) -> tuple[int, NDArray[np.uint64] | None]:
    """Return the length of an array by vertex number, and the vertices with an edge where numbers are far apart."""
    size = int(unpack(simple.keys[-1:])[0].max(initial=0)) + 1
    for start in range(0, simple.keys.size, _CHUNK):
        size = max(size, int(unpack(simple.keys[start : start + _CHUNK])[1].max()) + 1)
    if size > 8 * simple.keys.size + _CHUNK:
        table = vertices(simple.keys)
        return table.size, table
    return size, None


def _edges(simple: Simple, table: NDArray[np.uint64] | None) -> Iterator[tuple[Counts, Counts]]:
    """Yield both ends of the edges as indices of such an array, a chunk at a time."""
    for start in range(0, simple.keys.size, _CHUNK):
        ends = unpack(simple.keys[start : start + _CHUNK])
        low, high = (end.astype(np.int64) if table is None else np.searchsorted(table, end) for end in ends)
        yield low, high


def node_count(simple: Simple) -> int:
    """Count the vertices, with and without an edge."""
    size, table = _numbering(simple)
    has_edge = np.zeros(size, dtype=np.bool_)
    for low, high in _edges(simple, table):
        has_edge[low] = has_edge[high] = True
    return int(has_edge.sum()) + simple.lone.size


def facts_of(simple: Simple, triangles: int | None = None) -> GraphFacts:
    """Count all but the triangles, which are passed on if they are known."""
    size, table = _numbering(simple)
    degree, larger, after = (np.zeros(size, dtype=np.int64) for _ in range(3))
    for low, high in _edges(simple, table):
        larger += np.bincount(low, minlength=size)
        degree += np.bincount(high, minlength=size)
    degree += larger
    for low, high in _edges(simple, table):
        after += np.bincount(np.where(degree[low] <= degree[high], low, high), minlength=size)
    return GraphFacts(
        nodes=int((degree > 0).sum()) + simple.lone.size,
        edges=simple.keys.size,
        wedges=int((degree * (degree - 1) // 2).sum()),
        wedges_by_id=int((larger * (larger - 1) // 2).sum()),
        wedges_by_degree=int((after * (after - 1) // 2).sum()),
        degree_squares=int((degree * degree).sum()),
        triangles=triangles,
    )


def all_facts(simple: Simple) -> GraphFacts:
    """Count all; triangles only up to 5 million edges and 30 million pairs to look up (seconds)."""
    quick = simple.keys.size <= _QUICK_EDGES
    return facts_of(simple, count_triangles(simple, most_pairs=_QUICK_PAIRS) if quick else None)

"""The counts of a graph that size the workloads."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.dataset.canonical import Simple, unpack, vertices
from assay.dataset.triangles import count_triangles
from assay.model.graph import GraphFacts

Counts = NDArray[np.int64]

_CHUNK = 1 << 22
_QUICK_EDGES = 5_000_000
_QUICK_PAIRS = 30_000_000


def degrees(simple: Simple) -> tuple[Counts, Counts]:
    """Of every vertex number: its degree, and how many of its neighbours are larger.

    The arrays are as long as the largest number, or hold only the vertices with an edge where numbers are far apart.
    """
    size, table = _numbering(simple)
    degree, larger = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for low, high in _edges(simple, table):
        part = np.bincount(low, minlength=size)
        larger += part
        degree += part
        degree += np.bincount(high, minlength=size)
    return degree, larger


def higher(simple: Simple, degree: Counts) -> Counts:
    """How many neighbours of every vertex number have a higher degree, or the same one and a larger number."""
    size, table = _numbering(simple)
    found = np.zeros(size, dtype=np.int64)
    for low, high in _edges(simple, table):
        found += np.bincount(np.where(degree[low] <= degree[high], low, high), minlength=size)
    return found


def _numbering(simple: Simple) -> tuple[int, NDArray[np.uint64] | None]:
    """How long an array by vertex number is, and the vertices with an edge where numbers are far apart."""
    size = int(unpack(simple.keys[-1:])[0].max(initial=0)) + 1
    for start in range(0, simple.keys.size, _CHUNK):
        size = max(size, int(unpack(simple.keys[start : start + _CHUNK])[1].max()) + 1)
    if size > 8 * simple.keys.size + _CHUNK:
        table = vertices(simple.keys)
        return table.size, table
    return size, None


def _edges(simple: Simple, table: NDArray[np.uint64] | None) -> Iterator[tuple[Counts, Counts]]:
    """Both ends of the edges as places in such an array, a chunk at a time."""
    for start in range(0, simple.keys.size, _CHUNK):
        low, high = unpack(simple.keys[start : start + _CHUNK])
        yield _places(low, table), _places(high, table)


def _places(ends: NDArray[np.uint64], table: NDArray[np.uint64] | None) -> Counts:
    return ends.astype(np.int64) if table is None else np.searchsorted(table, ends)


def node_count(simple: Simple) -> int:
    """How many vertices there are, with and without an edge."""
    return int((degrees(simple)[0] > 0).sum()) + simple.lone.size


def facts_of(simple: Simple, triangles: int | None = None) -> GraphFacts:
    """All counts but the triangles, which are passed on if they are known."""
    degree, larger = degrees(simple)
    after = higher(simple, degree)
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
    """All counts; the triangles of a graph of up to 5 million edges and 30 million pairs to look up (seconds)."""
    quick = simple.keys.size <= _QUICK_EDGES
    return facts_of(simple, count_triangles(simple, most_pairs=_QUICK_PAIRS) if quick else None)

"""Counting the triangles of a graph that is small enough.

Edges are directed from the smaller to the larger (degree, number); each pair of edges out of one vertex is closed or
not, which is looked up in the sorted edges. In that order the pairs are few (Schank and Wagner, WEA 2005).
"""

import numpy as np

from assay.dataset.canonical import Simple, pack, unpack, vertices

_CHUNK = 1 << 22


def count_triangles(simple: Simple, most_pairs: int | None = None) -> int | None:
    """The number of triangles; None if more than `most_pairs` pairs of edges would have to be looked up.

    Takes about 0.2 seconds and a bounded amount of memory for a million pairs, beside 32 bytes an edge.
    """
    if not simple.keys.size:
        return 0
    table = vertices(simple.keys)
    low, high = (np.searchsorted(table, end) for end in unpack(simple.keys))
    degree = np.bincount(low, minlength=table.size) + np.bincount(high, minlength=table.size)
    rank = np.empty(table.size, dtype=np.uint64)
    rank[np.argsort(degree, kind="stable")] = np.arange(table.size, dtype=np.uint64)
    one, other = rank[low], rank[high]
    keys = np.sort(pack(np.minimum(one, other), np.maximum(one, other)))
    tails, heads = unpack(keys)
    last = np.cumsum(np.bincount(tails.astype(np.int64), minlength=table.size))[tails.astype(np.int64)]
    following = last - np.arange(1, keys.size + 1)  # how many edges with the same tail come after each
    if most_pairs is not None and following.sum() > most_pairs:
        return None
    bounds = np.searchsorted(np.cumsum(following), np.arange(_CHUNK, following.sum() + _CHUNK, _CHUNK))
    total, start = 0, 0
    for bound in bounds:
        end = min(int(bound) + 1, keys.size)
        total += _closed(keys, heads, following, start, end)
        start = end
    return total


def _closed(keys: np.ndarray, heads: np.ndarray, following: np.ndarray, start: int, end: int) -> int:
    count = following[start:end]
    first = np.repeat(np.arange(start, end), count)
    offset = np.arange(first.size) - np.repeat(np.cumsum(count) - count, count)
    wanted = pack(heads[first], heads[first + 1 + offset])
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return int((keys[place] == wanted).sum())

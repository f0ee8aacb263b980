"""Directed graphs: stochastic Kronecker graphs made from a seed, or a user's edge list."""

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.input.points import ID, LineForm, tables
from assay.input.staging import scratch_directory
from assay.model.dataset import Amounts
from assay.model.errors import BadInputError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

_CHUNK = 1 << 20


Ids = NDArray[np.int64]

# How an edge falls into the four quarters of the adjacency matrix, at each level (R-MAT; Chakrabarti, Zhan, Faloutsos
# 2004): A, B, C and D of Graph500's Kronecker generator (https://graph500.org, specification).
INITIATOR = (0.57, 0.19, 0.19, 0.05)
MOST_SCALE = 31

_EDGE = LineForm(
    row="edge", number="a vertex number (a whole number from 0 to 9223372036854775807)", pattern=ID, dtype=np.int64,
    columns=2, comment=b"#",
)  # fmt: skip


class Directed(NamedTuple):
    """A directed graph: the vertices' ids, ascending (shape (n,)), and the ends of the edges, each once ((m,))."""

    vertices: Ids
    sources: Ids
    targets: Ids

    @property
    def isolated(self) -> Ids:
        """The vertices without any edge."""
        return np.setdiff1d(self.vertices, np.concatenate([self.sources, self.targets]))


def made_graph(scale: int, edge_factor: int, seed: int) -> Directed:
    """Make a graph of 2^scale vertices, all of which exist, and edge_factor times as many edges less repetitions.

    Vertices are renumbered at random, as Graph500 does it; loops stay.
    """
    vertices = 1 << scale
    first, second, third = np.cumsum(INITIATOR)[:3]
    random = np.random.default_rng((seed, 2))
    renumbered = random.permutation(vertices)
    keys = []
    for start in range(0, edge_factor * vertices, _CHUNK):
        source, target = np.zeros((2, min(_CHUNK, edge_factor * vertices - start)), dtype=np.int64)
        for _ in range(scale):
            draw = random.random(len(source))
            lower = draw >= second
            source = source << 1 | lower
            target = target << 1 | (((draw >= first) & ~lower) | (draw >= third))
        keys.append(np.unique(renumbered[source] << scale | renumbered[target]))
    distinct = np.unique(np.concatenate(keys))
    return Directed(np.arange(vertices), distinct >> scale, distinct & (vertices - 1))


def read_graph(path: Path) -> Directed:
    """Read a file with `source target` per line; repeated edges count once. Raises BadInputError, or without edges."""
    read = list(tables(path, _EDGE))
    if not read:
        raise BadInputError(f"{path} has no edge; give a file with one edge per line, `source target`")
    edges = np.unique(np.concatenate(read), axis=0)
    return Directed(np.unique(edges), edges[:, 0].copy(), edges[:, 1].copy())


def write_graph(graph: Directed, file: Path) -> None:
    """Write a line `source<TAB>target` per edge, and a line with the id of each vertex without an edge."""
    from assay.input.reading import write_edges

    write_edges([(graph.sources, graph.targets)], file, graph.isolated.tolist())


_LINE_BYTES = 16
_POWERS_OF_TEN = 10 ** np.arange(1, 19, dtype=np.int64)


def _digits(ids: Ids) -> int:
    return len(ids) + int(np.searchsorted(_POWERS_OF_TEN, ids, side="right").sum())


class DirectedInput(Input):
    """A directed graph from a file, or generated with 2^scale vertices and `edge_factor` edges drawn for each."""

    def __init__(self, file: Path | None, scale: int, edge_factor: int, seed: int) -> None:
        self._file, self._scale, self._edge_factor, self._seed = file, scale, edge_factor, seed

    @cached_property
    def graph(self) -> Directed:
        """Read or make the graph in memory. Raises BadInputError for a file that is wrong."""
        if self._file is not None:
            return read_graph(self._file)
        return made_graph(self._scale, self._edge_factor, self._seed)

    def size(self) -> Amounts:
        """Return the size; for a generated graph it has the most edges that there can be."""
        nodes, edges = 1 << self._scale, self._edge_factor << self._scale
        if self._file is not None:
            nodes, edges = len(self.graph.vertices), len(self.graph.sources)
        return Amounts(bytes=_LINE_BYTES * edges, lines=edges, nodes=nodes, edges=edges)

    def put_bytes(self) -> int:
        """Return those of the lines that `write_graph` makes."""
        sources, targets, isolated = map(_digits, (self.graph.sources, self.graph.targets, self.graph.isolated))
        return sources + targets + 2 * len(self.graph.sources) + isolated + len(self.graph.isolated)

    def put(self, path: str, store: Store, progress: Progress) -> None:
        with scratch_directory(len(self.graph.sources) * _LINE_BYTES) as scratch:
            progress.detail("make graph")
            file = scratch / "edges.txt"
            write_graph(self.graph, file)
            store.put(file, f"{path}/edges.txt")

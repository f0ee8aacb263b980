"""PageRank by two libraries: what the jobs' is judged against."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.workload.kronecker import Directed

Floats = NDArray[np.float64]


class PowerIteration:
    """The ranks of a graph's vertices, in their order.

    The rank of a vertex without an edge that leaves it is handed out to all vertices evenly; ranks sum to 1.
    """

    def __init__(self, graph: Directed, damping: float) -> None:
        self._damping = damping
        self._count = len(graph.vertices)
        self._sources = np.searchsorted(graph.vertices, graph.sources)
        self._targets = np.searchsorted(graph.vertices, graph.targets)
        self._degrees = np.bincount(self._sources, minlength=self._count)
        self.dangling: NDArray[np.bool_] = self._degrees == 0

    @cached_property
    def _shares(self) -> Any:
        """The matrix that brings each target its shares."""
        from scipy import sparse

        weights = 1.0 / self._degrees[self._sources]
        return sparse.csr_array((weights, (self._targets, self._sources)), shape=(self._count, self._count))

    def iterate(self, iterations: int) -> tuple[Floats, list[float]]:
        """The ranks after so many iterations from equal ranks, and how much each changed all of them together (L1)."""
        ranks = np.full(self._count, 1 / self._count)
        changes = []
        for _ in range(iterations):
            even = (1 - self._damping + self._damping * ranks[self.dangling].sum()) / self._count
            after = even + self._damping * (self._shares @ ranks)
            changes.append(float(np.abs(after - ranks).sum()))
            ranks = after
        return ranks, changes

    def limit(self) -> Floats:
        """What NetworKit finds, to 1e-12 or so."""
        import networkit

        network = networkit.GraphFromCoo(
            (self._sources.astype(np.uint64), self._targets.astype(np.uint64)), n=self._count, directed=True,
            weighted=False,
        )  # fmt: skip
        sinks = networkit.centrality.SinkHandling.DistributeSinks
        search = networkit.centrality.PageRank(network, self._damping, 1e-13, distributeSinks=sinks)
        search.norm = networkit.centrality.Norm.L1_NORM
        search.run()
        return np.asarray(search.scores(), dtype=np.float64)

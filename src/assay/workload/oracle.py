"""The independent computation that outputs are judged against: NetworKit, a C++ graph library, on the dataset's graph.

It shares neither code nor algorithm nor reader with the MapReduce jobs.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.model.graph import Graph


class Oracle:
    """Answers about a graph, in terms of its own vertex ids."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # Ids may be any 64-bit numbers; the library wants 0..n-1. `vertices[k]` is the id of the library's vertex k.
        self.vertices: NDArray[np.int64] = np.unique(np.concatenate([graph.edges.reshape(-1), graph.lone]))
        self.sources = np.searchsorted(self.vertices, graph.edges[:, 0]).astype(np.uint64)
        self.targets = np.searchsorted(self.vertices, graph.edges[:, 1]).astype(np.uint64)

    @cached_property
    def _network(self) -> Any:
        import networkit

        network = networkit.GraphFromCoo(
            (self.sources, self.targets), n=len(self.vertices), directed=False, weighted=False
        )
        network.indexEdges()
        return network

    @cached_property
    def _scores(self) -> NDArray[np.int64]:
        """The number of triangles at each of the library's edges, by its edge id."""
        import networkit

        score = networkit.sparsification.TriangleEdgeScore(self._network)
        score.run()
        return np.asarray(score.scores(), dtype=np.int64)

    @property
    def triangles(self) -> int:
        """The number of triangles: each is counted at its three edges."""
        return int(self._scores.sum()) // 3

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each of `vertices` (shape (n,))."""
        ends = np.concatenate([self.sources, self.targets]).astype(np.int64)
        return np.bincount(ends, minlength=len(self.vertices))

    def triangles_at(self) -> NDArray[np.int64]:
        """The number of triangles at each of `vertices` (shape (n,)): each is counted at two edges of a corner."""
        twice = np.zeros(len(self.vertices), dtype=np.int64)
        for ends in (self.sources, self.targets):
            np.add.at(twice, ends.astype(np.int64), self.common_friends)
        return twice // 2

    @cached_property
    def local_clustering(self) -> NDArray[np.float64]:
        """The local clustering coefficient of each of `vertices` (shape (n,)), 0 where the degree is below 2."""
        import networkit

        scores = networkit.centrality.LocalClusteringCoefficient(self._network)
        scores.run()
        return np.asarray(scores.scores(), dtype=np.float64)

    @cached_property
    def common_friends(self) -> NDArray[np.int64]:
        """For each row of the graph's edges the number of vertices adjacent to both ends (shape (m,))."""
        edge_id = self._network.edgeId
        pairs = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        ids = np.fromiter((edge_id(u, v) for u, v in pairs), dtype=np.int64, count=len(self.sources))
        common: NDArray[np.int64] = self._scores[ids]
        return common

    def friends_in_common(self, row: int) -> list[int]:
        """The ids of the vertices adjacent to both ends of an edge, sorted."""
        from networkit.linkprediction import NeighborhoodUtility

        found = NeighborhoodUtility.getCommonNeighbors(self._network, int(self.sources[row]), int(self.targets[row]))
        return sorted(self.vertices[found].tolist()) if found else []

    def components(self) -> NDArray[np.int64]:
        """For each of `vertices` the smallest id in its component (shape (n,))."""
        import networkit

        search = networkit.components.ConnectedComponents(self._network)
        search.run()
        part = np.asarray(search.getPartition().getVector(), dtype=np.int64)
        # `vertices` ascends, so the first vertex of a part is its smallest.
        _, first, inverse = np.unique(part, return_index=True, return_inverse=True)
        smallest: NDArray[np.int64] = self.vertices[first][inverse]
        return smallest

"""The independent computation that outputs are judged against: NetworKit, a C++ graph library, on the dataset's graph.

It shares neither code nor algorithm nor reader with the MapReduce jobs.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import AssayError
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

    def smallest_within(self, hops: int) -> NDArray[np.int64]:
        """For each of `vertices` the smallest id within so many hops (shape (n,))."""
        smallest = np.arange(len(self.vertices))
        for _ in range(hops):
            wider = smallest.copy()
            np.minimum.at(wider, self.sources, smallest[self.targets])
            np.minimum.at(wider, self.targets, smallest[self.sources])
            if np.array_equal(wider, smallest):
                break
            smallest = wider
        return self.vertices[smallest]

    def distances(self, sources: Sequence[int]) -> NDArray[np.int64]:
        """For each of `vertices` the hops from the nearest of the sources, -1 where there is no path (shape (n,)).

        Raises AssayError for a source that is not in the graph.
        """
        import networkit

        nearest = np.full(len(self.vertices), np.inf)
        for source in sources:
            at = int(np.searchsorted(self.vertices, source))
            if at == len(self.vertices) or self.vertices[at] != source:
                raise AssayError(f"vertex {source} is not in the graph")
            search = networkit.distance.BFS(self._network, at, storePaths=False)
            search.run()
            nearest = np.minimum(nearest, search.getDistances())
        # The library gives vertices without a path the largest double.
        return np.where(nearest < len(self.vertices), nearest, -1).astype(np.int64)

    def cores(self) -> NDArray[np.int64]:
        """For each of `vertices` its core number (shape (n,))."""
        import networkit

        decomposition = networkit.centrality.CoreDecomposition(self._network)
        decomposition.run()
        return np.asarray(decomposition.scores(), dtype=np.float64).astype(np.int64)

    def labels(self, most_iterations: int) -> tuple[NDArray[np.int64], int, int]:
        """Label propagation: the labels of `vertices` (shape (n,)), the iterations, and the changes in the last.

        Votes are the product of the adjacency matrix, with ones on its diagonal, and the matrix that has a one for
        each vertex in the column of its label.
        """
        from scipy.sparse import coo_array, csr_array

        count = len(self.vertices)
        each = np.arange(count)
        ends = np.concatenate([self.sources, self.targets, each]).astype(np.int64)
        others = np.concatenate([self.targets, self.sources, each]).astype(np.int64)
        voters = coo_array((np.ones(len(ends), dtype=np.int64), (ends, others)), shape=(count, count)).tocsr()
        label, iterations, changed = each, 0, count
        while changed and iterations < most_iterations:
            votes = voters @ csr_array((np.ones(count, dtype=np.int64), label, np.arange(count + 1)), voters.shape)
            # No row is empty: every vertex votes for its own label.
            starts, lengths = votes.indptr[:-1], np.diff(votes.indptr)
            most = np.repeat(np.maximum.reduceat(votes.data, starts), lengths)
            winner = np.minimum.reduceat(np.where(votes.data == most, votes.indices, count), starts)
            changed = int((winner != label).sum())
            label, iterations = winner, iterations + 1
        return self.vertices[label], iterations, changed

    def modularity(self, labels: NDArray[np.int64]) -> float:
        """How much denser than by chance the edges are within the parts that `labels` makes of `vertices`."""
        import networkit

        _, part = np.unique(labels, return_inverse=True)
        partition = networkit.structures.Partition(len(part), part.tolist())
        partition.setUpperBound(int(part.max()) + 1)
        return float(networkit.community.Modularity().getQuality(partition, self._network))

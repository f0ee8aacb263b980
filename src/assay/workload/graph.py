"""Shared parts of the network-analysis workloads: the judging of outputs.

It shares neither code nor algorithm nor reader with the MapReduce jobs.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.model.dataset import Graph, InputKind
from assay.model.doubt import CheckResult, Outcome, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.input import GraphInput
from assay.model.store import Store
from assay.model.workload import Variant
from assay.workload.base import BaseWorkload, counters_agree, each_once, output_table, whole


class GraphWorkload(BaseWorkload):
    """A workload on a graph in normal form: `u<TAB>v` with u < v, each edge once, lone vertices alone."""

    takes = InputKind.GRAPH
    needs_files = False
    input: GraphInput


class ExpectedValues(NamedTuple):
    """The value of each of the oracle's vertices (shape (n,)), its name, a summary of it, and the jobs' counters."""

    values: NDArray[np.int64]
    check: str
    summary: str
    counters: Mapping[str, int]


class VertexValues(GraphWorkload):
    """A workload whose output has a line for each vertex that begins with its id and a whole number."""

    @abstractmethod
    def expected(self, oracle: "Oracle") -> ExpectedValues:
        """Compute in another way what the output must have."""

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        oracle = Oracle(self.input.graph())
        expected = self.expected(oracle)
        lines = output_table(filter(None, store.lines(self.output_path)), self.spec.name, vertex=whole, value=_value)
        once = each_once(lines["vertex"], oracle.vertices)
        same_vertices = once.outcome is Outcome.PASS
        wrong = int((lines["value"] != expected.values).sum()) if same_vertices else -1
        return (
            once,
            verdict(
                expected.check,
                passed=wrong == 0,
                detail=f"{expected.summary}; {wrong} vertices differ" if same_vertices else "not comparable",
            ),
            *counters_agree(report, expected.counters),
        )


def _value(rest: bytes) -> int:
    """Read the number before the next tab; -1 where there is none."""
    return -1 if (value := rest.partition(b"\t")[0]) == b"-1" else whole(value)


class Oracle:
    """Answers about a graph, in terms of its own vertex ids."""

    def __init__(self, graph: Graph) -> None:
        import networkit

        self._kit = networkit
        # Ids may be any 64-bit numbers; the library wants 0..n-1. `vertices[k]` is the id of the library's vertex k.
        self.vertices: NDArray[np.int64] = np.unique(np.concatenate([graph.edges.reshape(-1), graph.lone]))
        self.sources = np.searchsorted(self.vertices, graph.edges[:, 0]).astype(np.uint64)
        self.targets = np.searchsorted(self.vertices, graph.edges[:, 1]).astype(np.uint64)

    @cached_property
    def _network(self) -> Any:
        network = self._kit.GraphFromCoo(
            (self.sources, self.targets), n=len(self.vertices), directed=False, weighted=False
        )
        network.indexEdges()
        return network

    @cached_property
    def _scores(self) -> NDArray[np.int64]:
        """The number of triangles at each of the library's edges, by edge id."""
        score = self._kit.sparsification.TriangleEdgeScore(self._network).run()
        return np.asarray(score.scores(), dtype=np.int64)

    @property
    def triangles(self) -> int:
        """The number of triangles: each is counted at its three edges."""
        return int(self._scores.sum()) // 3

    def amount(self, name: str) -> int:
        """A count of the graph, by its name in `Amounts`."""
        low, high = self.sources.astype(np.int64), self.targets.astype(np.int64)
        match name:
            case "nodes":
                return len(self.vertices)
            case "edges":
                return len(self.sources)
            case "triangles":
                return self.triangles
            case "wedges_by_id":
                ends = low
            case "wedges_by_degree":
                ends = np.where(self.degrees[low] <= self.degrees[high], low, high)
            case _:
                raise ValueError(f"a graph has no count {name!r}")
        leaving = np.bincount(ends)
        return int((leaving * (leaving - 1) // 2).sum())

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
        scores = self._kit.centrality.LocalClusteringCoefficient(self._network).run()
        return np.asarray(scores.scores(), dtype=np.float64)

    @cached_property
    def common_friends(self) -> NDArray[np.int64]:
        """The number of vertices adjacent to both ends of each of the graph's edges (shape (m,))."""
        edge_id = self._network.edgeId
        pairs = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        ids = np.fromiter((edge_id(u, v) for u, v in pairs), dtype=np.int64, count=len(self.sources))
        common: NDArray[np.int64] = self._scores[ids]
        return common

    def friends_in_common(self, row: int) -> list[int]:
        """The ids of the vertices adjacent to both ends of an edge, sorted."""
        ends = int(self.sources[row]), int(self.targets[row])
        common = self._kit.linkprediction.NeighborhoodUtility.getCommonNeighbors(self._network, *ends)
        return sorted(self.vertices[common].tolist()) if common else []

    def components(self) -> NDArray[np.int64]:
        """For each of `vertices` the smallest id in its component (shape (n,))."""
        search = self._kit.components.ConnectedComponents(self._network).run()
        component = np.asarray(search.getPartition().getVector(), dtype=np.int64)
        # `vertices` ascends, so the first vertex of a component is its smallest.
        _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
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
        nearest = np.full(len(self.vertices), np.inf)
        for source in sources:
            at = int(np.searchsorted(self.vertices, source))
            if at == len(self.vertices) or self.vertices[at] != source:
                raise AssayError(f"vertex {source} is not in the graph")
            search = self._kit.distance.BFS(self._network, at, storePaths=False)
            search.run()
            nearest = np.minimum(nearest, search.getDistances())
        # The library gives vertices without a path the largest double.
        return np.where(nearest < len(self.vertices), nearest, -1).astype(np.int64)

    def cores(self) -> NDArray[np.int64]:
        """For each of `vertices` its core number (shape (n,))."""
        decomposition = self._kit.centrality.CoreDecomposition(self._network).run()
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
        _, community = np.unique(labels, return_inverse=True)
        partition = self._kit.structures.Partition(len(community), community.tolist())
        partition.setUpperBound(int(community.max()) + 1)
        return float(self._kit.community.Modularity().getQuality(partition, self._network))


def judge_counters(variant: Variant, oracle: Oracle, report: LaunchReport, **further: int) -> tuple[CheckResult, ...]:
    """What the variant's jobs counted equals what it is of; `further` are amounts beside those of the graph."""
    counters = variant.counters or _IN_DEGREE_ORDER
    expected = {name: further[of] if of in further else oracle.amount(of) for name, of in counters.items()}
    *names, last = counters
    listed = f"{', '.join(names)} and {last}" if names else last
    return counters_agree(report, expected, f"counters of {listed} equal the graph's")


_IN_DEGREE_ORDER = {"vertices": "nodes", "edges": "edges", "wedges": "wedges_by_degree", "triangles": "triangles"}
"""What jobs count that find triangles in degree order."""

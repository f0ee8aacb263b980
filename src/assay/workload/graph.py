"""What the network-analysis workloads share: input, staging, and how their outputs are judged.

It shares neither code nor algorithm nor reader with the MapReduce jobs.

An edge leads from its end of lower degree to the other, and between equal degrees to the larger id.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import Options

# Rough costs of the jobs on one present-day core pair, used for estimates before a run only.
JOB_S = 9.0
RECORD_S = 1.6e-6


class GraphWorkload:
    """A workload on a graph in canonical text: `u<TAB>v` with u < v, each edge once, lone vertices alone.

    Its options are those in `defaults`, each with a line in `option_help`, and go to the variant's command under the
    same names. Those in `path_options` are paths of this machine: a plan makes them absolute. `example`
    has those that must be given.
    """

    makes_input: ClassVar[bool] = False
    summary: ClassVar[str]
    stresses: ClassVar[str]
    source: ClassVar[str]
    result: ClassVar[str]
    verified: ClassVar[str]
    variants: ClassVar[Mapping[str, Variant]]
    option_help: ClassVar[Mapping[str, str]] = {}
    path_options: ClassVar[Collection[str]] = ()
    example: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown, or neither on nor off where it has to be."""
        self.options = Options(spec, self.defaults)
        for name in filter(self._is_flag, self.defaults):
            self.options.flag(name)
        self.spec = spec
        self.base = base

    @property
    def output(self) -> str:
        """The output directory in the store."""
        return f"{self.base}/output"

    @property
    def input(self) -> str:
        """The input directory in the store."""
        return f"{self.base}/input"

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the file; unless it is canonical already, normalise it by a job and drop the raw copy."""
        staged = dataset.prepare(progress)
        if staged.canonical:
            store.put(staged.path, f"{self.input}/{staged.name}")
            return LaunchReport(jobs=(), result={})
        raw = f"{self.base}/raw"
        store.put(staged.path, f"{raw}/{staged.name}")
        launch = Launch(command="normalise", input=raw, output=self.input, options=staged.normalise_options)
        report = engine.run(launch, progress)
        store.delete(raw)
        return report

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The workload's own command on the staged graph."""
        launch = Launch(
            command=self.variants[self.spec.variant].command,
            input=self.input,
            output=self.output,
            options=self.command_options(),
            properties=self.spec.hadoop,
        )
        return engine.run(launch, progress)

    def command_options(self) -> tuple[str, ...]:
        """The command's options: `--name` for one that is on, nothing for one that is off, else `--name=value`."""
        words: list[str] = []
        for name, value in self.spec.options.items():
            if not self._is_flag(name):
                words.append(f"--{name}={value}")
            elif self.options.flag(name):
                words.append(f"--{name}")
        return tuple(words)

    def _is_flag(self, name: str) -> bool:
        return self.defaults[name] in {"true", "false"}

    @abstractmethod
    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Bytes on the medium at the worst moment, and rough seconds."""

    @abstractmethod
    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Judge the output against NetworKit."""


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


# What vertices without a value have, where there are such.
NONE = b"-1"
_MOST = (1 << 63) - 1


def read_values(store: Store, output: str, name: str) -> NDArray[np.int64]:
    """The first two fields of each line, vertex and value, by ascending vertex (shape (lines, 2)).

    Raises AssayError for a line that does not begin with two whole numbers of at most 63 bits.
    """
    found = np.fromiter(_numbers(store, output, name), dtype=np.int64).reshape(-1, 2)
    return found[np.argsort(found[:, 0], kind="stable")]


def _numbers(store: Store, output: str, name: str) -> Iterator[int]:
    for line in store.lines(output):
        if not line:
            continue
        fields = line.split(b"\t", 2)[:2]
        if len(fields) != 2 or not (fields[0].isdigit() and (fields[1].isdigit() or fields[1] == NONE)):
            raise AssayError(f"the output of {name} has a line that is not `vertex, value`: {line[:80]!r}")
        numbers = (int(fields[0]), int(fields[1]))
        if max(numbers) > _MOST:
            raise AssayError(f"the output of {name} has a number beyond 63 bits: {line[:80]!r}")
        yield from numbers


def judge_values(
    found: NDArray[np.int64], vertices: NDArray[np.int64], expected: NDArray[np.int64], check: str, seen: str
) -> tuple[Verdict, ...]:
    """Whether each of `vertices`, which ascend, has one line with its expected value; `seen` goes with the detail."""
    same_vertices = np.array_equal(found[:, 0], vertices)
    wrong = int((found[:, 1] != expected).sum()) if same_vertices else -1
    return (
        verdict(
            "every vertex appears exactly once",
            passed=same_vertices,
            detail=f"{len(found)} lines for {len(vertices)} vertices",
        ),
        verdict(
            check,
            passed=wrong == 0,
            detail=f"{seen}; {wrong} vertices differ" if same_vertices else "not comparable",
        ),
    )


def judge_counters(told: Mapping[str, int | float], expected: Mapping[str, int]) -> Verdict:
    """Whether the jobs counted what the other computation has."""
    wrong = [
        f"{name} is {told.get(name)} instead of {value}" for name, value in expected.items() if told.get(name) != value
    ]
    right = ", ".join(f"{name} {value}" for name, value in expected.items())
    return verdict("counters are right", passed=not wrong, detail=", ".join(wrong) or right)


# A record of small ids in the shuffle: packed keys and values, and the frame around them. Spilled, and merged on each
# side.
SHIPPED_BYTES = 3 * 14
# Each edge is shipped from both its ends, and lies in lists, in each of the two jobs that find and compare the degrees.
LIST_BYTES = 2 * 4


def directing_disk_bytes(facts: GraphFacts, staged_bytes: int) -> int:
    """What finding the degrees and directing the edges needs on the medium, the input included."""
    return 2 * staged_bytes + (facts.nodes + 2 * facts.edges) * (SHIPPED_BYTES + LIST_BYTES)


def directing_records(facts: GraphFacts) -> int:
    """Records that are shipped until the edges are directed: each edge from both ends, twice."""
    return 4 * facts.edges + facts.nodes


def count_wedges(oracle: Oracle) -> int:
    """The number of pairs of edges that leave the same vertex."""
    low, high = oracle.sources.astype(np.int64), oracle.targets.astype(np.int64)
    degree = oracle.degrees
    leaving = np.bincount(np.where(degree[low] <= degree[high], low, high), minlength=len(oracle.vertices))
    return int((leaving * (leaving - 1) // 2).sum())


def counted_right(oracle: Oracle, report: LaunchReport) -> Verdict:
    """The jobs' counters of vertices, edges, open triads in degree order and triangles equal those of the graph."""
    expected = {
        "vertices": len(oracle.vertices),
        "edges": len(oracle.sources),
        "wedges": count_wedges(oracle),
        "triangles": oracle.triangles,
    }
    told = {name: report.result.get(name) for name in expected}
    wrong = [f"{name} {told[name]} instead of {expected[name]}" for name in expected if told[name] != expected[name]]
    return verdict(
        "counters of vertices, edges, wedges and triangles equal the graph's",
        passed=not wrong,
        detail=", ".join(wrong) or f"{expected['wedges']} wedges in degree order",
    )

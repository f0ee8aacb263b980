"""PageRank of a directed graph by power iteration, as Pegasus does it."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.input.directed import MOST_SCALE, Directed, DirectedInput
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, Outcome, verdict
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Option, Variant
from assay.workload.base import (
    BaseWorkload,
    counters_agree,
    each_once,
    output_table,
    whole,
)

Floats = NDArray[np.float64]


class PowerIteration:
    """Computes the ranks of a graph's vertices, in their order.

    The rank of a vertex without an edge that leaves it is handed out to all vertices evenly; ranks sum to 1.
    """

    def __init__(self, graph: Directed, damping: float) -> None:
        self._damping = damping
        self._count = len(graph.vertices)
        self._sources = np.searchsorted(graph.vertices, graph.sources)
        self._targets = np.searchsorted(graph.vertices, graph.targets)
        self._degrees = np.bincount(self._sources, minlength=self._count)
        self.dangling: NDArray[np.bool_] = self._degrees == 0

    def iterate(self, iterations: int) -> tuple[Floats, list[float]]:
        """Return the ranks after so many iterations from equal ranks, and the change of each iteration (L1)."""
        from scipy import sparse

        weights = 1.0 / self._degrees[self._sources]
        # Brings each target its shares.
        shares = sparse.csr_array((weights, (self._targets, self._sources)), shape=(self._count, self._count))
        ranks = np.full(self._count, 1 / self._count)
        changes = []
        for _ in range(iterations):
            even = (1 - self._damping + self._damping * ranks[self.dangling].sum()) / self._count
            after = even + self._damping * (shares @ ranks)
            changes.append(float(np.abs(after - ranks).sum()))
            ranks = after
        return ranks, changes

    def limit(self) -> Floats:
        """Return the ranks that NetworKit finds, to about 1e-12."""
        import networkit

        network = networkit.GraphFromCoo(
            (self._sources.astype(np.uint64), self._targets.astype(np.uint64)), n=self._count, directed=True,
            weighted=False,
        )  # fmt: skip
        sinks = networkit.centrality.SinkHandling.DistributeSinks
        search = networkit.centrality.PageRank(network, self._damping, 1e-13, distributeSinks=sinks)
        search.norm = networkit.centrality.Norm.L1_NORM
        return np.asarray(search.run().scores(), dtype=np.float64)


# Ranks agree when they differ by less than this share; sums of ranks when they differ by less.
AGREEMENT = 1e-9


class PageRank(BaseWorkload):
    """A vertex has an even part of all rank, and the shares of those that point to it."""

    takes = InputKind.DIRECTED_GRAPH
    needs_files = False
    summary = "ranks the vertices of a directed graph (PageRank)"
    stresses = (
        "job starts, HDFS between jobs, spills and the shuffle: a record per edge and vertex in each iteration; "
        "little computing"
    )
    source = "HPC study, sections 3.1 and 3.3.4: PageRank of Pegasus 2.0 on a Kronecker graph"
    result = "`vertex<TAB>rank`"
    verified = (
        "each rank is within 1e-9 of as many power iterations with SciPy's sparse matrices; all are within c / (1 - "
        "c) of the last change (L1) of NetworKit's PageRank with sinks distributed; they add up to 1; the run ended "
        "at the first change below the tolerance, or at the bound; the counters agree"
    )
    known_options = {
        "scale": Option("16", "2^scale vertices are generated (at most 31); all exist, with or without edges"),
        "edge_factor": Option("16", "edges drawn per vertex; equal edges count once"),
        "seed": Option("1", "seed of the graph"),
        "file": Option(
            "",
            "your own directed edge list instead: `source target` per line, separated by tabs, spaces or "
            "commas; `#` begins a comment",
            is_path=True,
        ),
        "damping": Option("0.85", "the share of a rank that follows the edges, between 0 and 1"),
        "tolerance": Option("1e-7", "end when all ranks together change by less (L1 norm)"),
        "iterations": Option("50", "the largest number of iterations"),
    }

    input: DirectedInput

    def read_options(self) -> None:
        scale, edge_factor = self.options.count("scale"), self.options.count("edge_factor")
        if scale > MOST_SCALE:
            raise self.options.refusal("scale", f"a whole number from 1 to {MOST_SCALE}")
        self._most = self.options.count("iterations")
        self._damping = self.options.number("damping", 0, 1)
        self._tolerance = self.options.number("tolerance", 0, 2)
        file = self.options.text("file")
        path = Path(file).expanduser() if file else None
        self.input = DirectedInput(path, scale, edge_factor, self.options.count("seed", 0))
        for name in ("scale", "edge_factor", "seed"):
            if file and name in self.spec.options:
                raise self.error(f"{name} is of made graphs; leave out {name}, or file")

    def likely_jobs(self, variant: Variant) -> float:
        """Count the iterations, in each of which changes shrink by the damping, and a first job."""
        iterations = min(self._most, math.ceil(math.log(self._tolerance / 2) / math.log(self._damping)))
        return 1 + iterations * variant.jobs_per_iteration

    def command_options(self) -> tuple[str, ...]:
        options = {"damping": self._damping, "tolerance": self._tolerance, "iterations": self._most}
        return tuple(f"--{name}={value!r}" for name, value in options.items())

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        done = report.result.get("iterations")
        if not isinstance(done, int) or not 1 <= done <= self._most:
            return (verdict("the iterations are within their bound", passed=False, detail=f"{done} of {self._most}"),)
        table = output_table(store.lines(self.output_path), self.spec.name, vertex=whole, rank=float)
        once, ranks = each_once(table["vertex"], self.input.graph.vertices), table["rank"]
        if once.outcome is not Outcome.PASS:
            return (once,)
        power = PowerIteration(self.input.graph, self._damping)
        expected, changes = power.iterate(done)
        # After a change of d the limit is at most d c / (1 - c) away, as each iteration shrinks changes by c.
        most = changes[-1] * self._damping / (1 - self._damping) + AGREEMENT
        distance = float(np.abs(ranks - power.limit()).sum())
        # The last change is below the tolerance and no earlier one is; or the bound was reached.
        reported = report.result.get("change", math.nan)
        converged = changes[-1] < self._tolerance
        right = report.result.get("converged") == int(converged) and (converged or done == self._most)
        same = abs(reported - changes[-1]) <= AGREEMENT * changes[-1] + 1e-14
        # In this form a rank that is no number differs too.
        off = int((~(np.abs(ranks - expected) <= AGREEMENT * expected)).sum())
        total = math.fsum(ranks)
        counters = {
            "vertices": len(ranks), "edges": len(self.input.graph.sources),
            "dangling_vertices": int(power.dangling.sum()),
        }  # fmt: skip
        return (
            once,
            verdict(
                "ranks equal those of power iteration with SciPy", passed=off == 0, detail=f"{off} vertices differ"
            ),
            verdict(
                "ranks are near NetworKit's",
                passed=distance <= most,
                detail=f"all differences together are {distance:.3g}, at most {most:.3g} follow from the last change",
            ),
            verdict("ranks sum to 1", passed=abs(total - 1) <= AGREEMENT, detail=f"the sum is {total:.15g}"),
            verdict(
                "the iterations ended below the tolerance, or at their bound",
                passed=right and same and all(change >= self._tolerance for change in changes[:-1]),
                detail=f"{done} iterations of at most {self._most}, the last change {reported:.9g}",
            ),
            *counters_agree(report, counters, "counters equal the vertices, edges and dangling vertices"),
        )


WORKLOADS.add("page-rank", PageRank, place=9)

"""K-core decomposition: the core number of each vertex, by h-indices of estimates (1 job, and 1 per iteration)."""

from collections.abc import Mapping
from typing import ClassVar

from assay.model.doubt import Verdict
from assay.model.engine import LaunchReport
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload, Oracle, judge_counters, judge_values, read_values

# A neighbour and its estimate are about 10 bytes of text, twice in HDFS (read and written), and three times in spills.
NEIGHBOUR_BYTES = 10
COPIES = 5
# Estimates settle slowly at the edges of the dense parts.
LIKELY_ITERATIONS = 25
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class KCore(GraphWorkload):
    """Each vertex lowers its estimate, at first its degree, to the h-index of its neighbours' estimates."""

    summary: ClassVar[str] = (
        "gives each vertex its core number: the largest k such that it is in a subgraph in "
        "which every vertex has k neighbours"
    )
    stresses: ClassVar[str] = (
        "the longest chains of jobs: each reads, shuffles and writes the graph with an estimate per neighbour"
    )
    source: ClassVar[str] = "Lü, Zhou, Zhang, Stanley 2016; Montresor, De Pellegrini, Miorandi 2011"
    result: ClassVar[str] = (
        "`vertex<TAB>core<TAB>0<TAB>n1:e1 n2:e2 ...`, with the last estimate that each neighbour sent"
    )
    verified: ClassVar[str] = (
        "every core number, and the counted sum of them, equals that of NetworKit's CoreDecomposition, which removes "
        "vertices one by one"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="estimates start as degrees and fall to the h-index of the neighbours' estimates, until an "
            "iteration changes none",
            jobs=("friend-lists", "iteration 1", "..."),
            command="k-core",
        )
    }

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All iterations are alike; each deletes its predecessor's output."""
        ids = facts.nodes + 2 * facts.edges
        return Estimate(
            disk_bytes=2 * staged_bytes + ids * NEIGHBOUR_BYTES * COPIES,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=LIKELY_ITERATIONS * (JOB_S + ids * RECORD_S),
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Each vertex' core number, and the counted sum of them, equal NetworKit's, which peels vertices off."""
        oracle = Oracle(graph)
        expected = oracle.cores()
        found = read_values(store, self.output, "k-core")
        seen = f"core numbers up to {int(expected.max())}"
        return (
            *judge_values(found, oracle.vertices, expected, "the core numbers equal NetworKit's", seen),
            judge_counters(report.result, {"vertices": len(expected), "core_sum": int(expected.sum())}),
        )


WORKLOADS.add("k-core", KCore, place=7)

"""Communities by label propagation, synchronous and without chance (1 job, and 1 per iteration).

A vertex takes the label that occurs most often among its own and its neighbours' labels, each counted once per vertex
that has it, all from the iteration before; of several the smallest. Labels are at first the vertices' own ids.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from assay.model.doubt import Verdict
from assay.model.engine import LaunchReport
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload, Oracle, judge_counters, judge_values, read_values

# Neighbours are about 10 bytes each, twice in HDFS (read and written) and three times in spills; a message has 19.
ADJACENCY_BYTES = 10
MESSAGE_BYTES = 19
COPIES = 5
SPILLS = 3
# Resident memory of the verification, by edge: the graph, NetworKit's copy, and the votes as sparse matrices.
VERIFY_EDGE_BYTES = 250


class LabelPropagation(GraphWorkload):
    """All labels change at once; on bipartite parts they may alternate forever, so the iterations are bounded."""

    summary: ClassVar[str] = (
        "finds communities: each vertex takes the most frequent label among its own and its neighbours'"
    )
    stresses: ClassVar[str] = (
        "the shuffle of many small records: two messages per edge and the whole graph in each iteration"
    )
    source: ClassVar[str] = (
        "Raghavan, Albert, Kumara 2007; synchronous, with ties to the smallest label, as in "
        "LDBC Graphalytics (CDLP), plus the vertex's own vote"
    )
    result: ClassVar[str] = "`vertex<TAB>label<TAB>flag<TAB>neighbours`; flag 1 if the last iteration changed the label"
    verified: ClassVar[str] = (
        "every label, and the counters, equal those of the same rule as products of sparse matrices (scipy); the "
        "verdict states NetworKit's modularity of the communities"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="all labels change at once; the vertex's own label has a vote; the smallest label wins a tie",
            jobs=("friend-lists", "iteration 1", "..."),
            command="label-propagation",
        )
    }
    defaults: ClassVar[Mapping[str, str]] = {"iterations": "5"}
    option_help: ClassVar[Mapping[str, str]] = {
        "iterations": "the largest number of iterations",
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._iterations = self.options.count("iterations")

    def command_options(self) -> tuple[str, ...]:
        """The bound."""
        return (f"--iterations={self._iterations}",)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All iterations are alike; each deletes its predecessor's output."""
        ids = facts.nodes + 2 * facts.edges
        bytes_by_id = ADJACENCY_BYTES * COPIES + MESSAGE_BYTES * SPILLS
        return Estimate(
            disk_bytes=2 * staged_bytes + ids * bytes_by_id,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=(1 + self._iterations) * (JOB_S + ids * RECORD_S),
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Each vertex' label equals that of the same rule as products of sparse matrices; NetworKit's modularity."""
        oracle = Oracle(graph)
        expected, iterations, changed = oracle.labels(self._iterations)
        counters = {
            "vertices": len(expected),
            "iterations": iterations,
            "changed": changed,
            "messages": iterations * 2 * len(graph.edges),
        }
        found = read_values(store, self.output, "label-propagation")
        communities = len(np.unique(expected))
        quality = f", modularity {oracle.modularity(expected):.4f}" if len(graph.edges) else ""
        seen = f"{communities} communities after {iterations} iterations{quality}"
        return (
            *judge_values(found, oracle.vertices, expected, "the labels equal those by sparse matrices", seen),
            judge_counters(report.result, counters),
        )


WORKLOADS.add("label-propagation", LabelPropagation, place=8)

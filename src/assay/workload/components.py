"""Connected components: each vertex gets its component's smallest id (thesis section 4.2, algorithm 2; iterative)."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.graph import Graph, GraphFacts
from assay.model.store import Store
from assay.model.trial import Estimate
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload
from assay.workload.oracle import Oracle

# Each iteration holds the adjacency text twice in HDFS (read and written) and about three times in spills and merges.
ADJACENCY_BYTES = 10
COPIES = 5
# Social networks are small worlds; the number of iterations is the eccentricity of each component's smallest id.
LIKELY_ITERATIONS = 10
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class Components(GraphWorkload):
    """Minima travel along edges as messages until a whole iteration changes nothing."""

    summary: ClassVar[str] = "gives each vertex the smallest id of its connected component"
    stresses: ClassVar[str] = (
        "repeated jobs: the whole graph is read, shuffled and written in each, with ever fewer messages"
    )
    source: ClassVar[str] = "thesis section 4.2, algorithm 2"
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as the thesis has it: minima travel along edges",
            jobs=("friend-lists", "iteration 1", "..."),
            command="components",
        )
    }

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All iterations are alike; each deletes its predecessor's output."""
        ids = facts.nodes + 2 * facts.edges
        return Estimate(
            disk_bytes=2 * staged_bytes + ids * ADJACENCY_BYTES * COPIES,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=LIKELY_ITERATIONS * (JOB_S + ids * RECORD_S),
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The whole partition equals NetworKit's, vertex by vertex, with the smallest id as each part's name."""
        pairs = [line.split(b"\t", 2)[:2] for line in store.lines(self.output) if line]
        wrong_line = next(
            (pair for pair in pairs if len(pair) != 2 or not (pair[0].isdigit() and pair[1].isdigit())), None
        )
        if wrong_line is not None:
            raise AssayError(f"the output of components has a line that is not `vertex, component`: {wrong_line!r}")
        found = np.array([(int(vertex), int(label)) for vertex, label in pairs], dtype=np.int64).reshape(-1, 2)
        found = found[np.argsort(found[:, 0], kind="stable")]
        oracle = Oracle(graph)
        expected = oracle.components()
        same_vertices = np.array_equal(found[:, 0], oracle.vertices)
        wrong = int((found[:, 1] != expected).sum()) if same_vertices else -1
        parts = len(np.unique(expected))
        told = report.result.get("components")
        return (
            verdict(
                "every vertex appears exactly once",
                passed=same_vertices,
                detail=f"{len(found)} lines for {len(oracle.vertices)} vertices",
            ),
            verdict(
                "the partition equals NetworKit's",
                passed=wrong == 0,
                detail=f"{parts} components; {wrong} vertices differ" if same_vertices else "not comparable",
            ),
            verdict("counter equals the number of components", passed=told == parts, detail=f"{told} and {parts}"),
        )

"""Triangle counting: how many triples of vertices are all connected (thesis section 4.3, algorithm 3; 3 jobs)."""

from collections.abc import Mapping
from typing import ClassVar

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.graph import Graph, GraphFacts
from assay.model.store import Store
from assay.model.trial import Estimate
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload
from assay.workload.oracle import Oracle

# A triad is a line of two ids and a flag in HDFS, and a binary record that is spilled and once merged on each side.
TRIAD_LINE_BYTES = 20
TRIAD_SHUFFLE_BYTES = 3 * 26
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class Triangles(GraphWorkload):
    """Open triads are listed at their smallest vertex, then closed by edges, then added up."""

    summary: ClassVar[str] = "counts the triples of vertices that are all connected"
    stresses: ClassVar[str] = "HDFS writes and reads, and the shuffle: a record for each open triad; little computing"
    source: ClassVar[str] = "thesis section 4.3, algorithm 3"
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as the thesis has it: triads at each edge's smaller id",
            jobs=("triads", "closing", "total"),
            command="triangles",
        )
    }

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The second job holds the triads in HDFS and in its spills at once."""
        records = facts.wedges_by_id + facts.edges
        return Estimate(
            disk_bytes=2 * staged_bytes + records * (TRIAD_LINE_BYTES + TRIAD_SHUFFLE_BYTES),
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=3 * JOB_S + records * RECORD_S,
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The output's number, the job's counter and NetworKit's count are the same."""
        lines = [line for line in store.lines(self.output) if line]
        if len(lines) != 1 or not lines[0].strip().isdigit():
            raise AssayError(f"the output of triangles should be one number, and is {lines[:3]!r}")
        found, expected = int(lines[0]), Oracle(graph).triangles
        told = report.result.get("triangles")
        return (
            verdict(
                "triangles equal NetworKit's count",
                passed=found == expected,
                detail=f"{found} found, {expected} expected",
            ),
            verdict("counter equals output", passed=told == found, detail=f"counter {told}, output {found}"),
        )

"""Triangle counting: how many triples of vertices are all connected (thesis section 4.3, algorithm 3)."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate
from assay.model.workload import Variant
from assay.workload.graph import (
    JOB_S,
    RECORD_S,
    SHIPPED_BYTES,
    GraphWorkload,
    Oracle,
    counted_right,
    directing_disk_bytes,
    directing_records,
    judge_counters,
)

# A triad is a line of two ids and a flag in HDFS, and a binary record that is spilled and once merged on each side.
TRIAD_LINE_BYTES = 20
TRIAD_SHUFFLE_BYTES = 3 * 26
# Where lists are sent instead of triads, an id takes a byte or two of its list.
LISTED_ID_BYTES = 3 * 2
LISTED_ID_S = RECORD_S / 20
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class Triangles(GraphWorkload):
    """Open triads are listed at their lowest vertex, then closed by edges, then added up."""

    summary: ClassVar[str] = "counts the triangles: triples of vertices that are all connected"
    stresses: ClassVar[str] = "HDFS and the shuffle, with a record for each open triad; little computing"
    source: ClassVar[str] = "thesis section 4.3, algorithm 3"
    result: ClassVar[str] = (
        "one line with the number in `paper`; in the other variants a line per reduce task, to be added up"
    )
    verified: ClassVar[str] = (
        "the number equals NetworKit's count of triangles; the jobs' counters of vertices, edges and open triads "
        "equal numpy's"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as published: open triads are listed at their smallest vertex, closed by edges, and added up",
            jobs=("triads", "closing", "total"),
            command="triangles",
        ),
        "tuned": Variant(
            about="open triads are listed at their vertex of lowest degree: far fewer of them",
            jobs=("degrees", "triads", "closing"),
            command="triangles-tuned",
        ),
        "intersect": Variant(
            about="no open triads: lists of neighbours of higher degree are sent along edges and intersected",
            jobs=("degrees", "directions", "intersection"),
            command="triangles-intersect",
        ),
    }

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The job that closes the triads holds them in HDFS and in its spills at once."""
        disk_bytes, work_s = self._estimated_work(facts, staged_bytes)
        return Estimate(
            disk_bytes=disk_bytes,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=3 * JOB_S + work_s,
        )

    def _estimated_work(self, facts: GraphFacts, staged_bytes: int) -> tuple[int, float]:
        """Bytes on the medium, and seconds beyond those that any job takes."""
        if self.spec.variant == "paper":
            records = facts.wedges_by_id + facts.edges
            return 2 * staged_bytes + records * (TRIAD_LINE_BYTES + TRIAD_SHUFFLE_BYTES), records * RECORD_S
        wedges, directing = facts.most_wedges_by_degree, directing_disk_bytes(facts, staged_bytes)
        if self.spec.variant == "tuned":
            records = wedges + facts.edges
            disk_bytes = directing + records * (TRIAD_LINE_BYTES + SHIPPED_BYTES)
            return disk_bytes, (records + directing_records(facts)) * RECORD_S
        disk_bytes = directing + facts.edges * SHIPPED_BYTES + wedges * LISTED_ID_BYTES
        return disk_bytes, (facts.edges + directing_records(facts)) * RECORD_S + wedges * LISTED_ID_S

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The output's number, the job's counter and NetworKit's count are the same.

        `paper` leaves one number; in the others each reduce task leaves its own, and their sum is judged.
        """
        lines = [line.strip() for line in store.lines(self.output) if line]
        one = self.spec.variant == "paper"
        if not lines or (one and len(lines) != 1) or not all(line.isdigit() for line in lines):
            wanted = "one number" if one else "numbers, one of each reduce task"
            raise AssayError(f"the output of triangles should be {wanted}, and is {lines[:3]!r}")
        oracle = Oracle(graph)
        found, expected = sum(map(int, lines)), oracle.triangles
        told = report.result.get("triangles")
        return (
            verdict(
                "triangles equal NetworKit's count",
                passed=found == expected,
                detail=f"{found} found, {expected} expected",
            ),
            verdict("counter equals output", passed=told == found, detail=f"counter {told}, output {found}"),
            _counted_by_id(graph, report) if one else counted_right(oracle, report),
        )


def _counted_by_id(graph: Graph, report: LaunchReport) -> Verdict:
    """The jobs' counters of edges and open triads equal those of the graph: pairs of edges with the same lower end."""
    leaving = np.unique(graph.edges[:, 0], return_counts=True)[1]
    expected = {"edges": len(graph.edges), "wedges": int((leaving * (leaving - 1) // 2).sum())}
    return judge_counters(report.result, expected)


WORKLOADS.add("triangles", Triangles, place=1)

"""Degree distribution: how many vertices have each degree (2 jobs)."""

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
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload

# A vertex that a map task ships: lengths, 8 bytes of id and its count; spilled, and merged on both sides.
SHIPPED_BYTES = 3 * 11
DEGREE_LINE_BYTES = 10
# Resident memory of the verification, by edge: the graph, both its columns once more, and those sorted.
VERIFY_EDGE_BYTES = 64


class DegreeDistribution(GraphWorkload):
    """Ends of edges are added up by vertex, then vertices by degree."""

    summary: ClassVar[str] = "counts how many vertices have each degree"
    stresses: ClassVar[str] = "job starts, and sorting and combining in maps; little is shuffled"
    source: ClassVar[str] = "the standard definition"
    result: ClassVar[str] = "`degree<TAB>vertices` for each degree that occurs; a vertex without an edge has degree 0"
    verified: ClassVar[str] = "the histogram equals numpy's; the counters equal the vertices, edges and degrees"
    variants: ClassVar[Mapping[str, Variant]] = {
        "plain": Variant(
            about="counts degrees, then their histogram, both combined in maps", jobs=("degrees", "histogram"),
            command="degree-distribution",
        )
    }  # fmt: skip

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The first job, at worst with nothing to combine."""
        records = 2 * facts.edges + facts.nodes
        return Estimate(
            disk_bytes=2 * staged_bytes + records * SHIPPED_BYTES + facts.nodes * DEGREE_LINE_BYTES,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=2 * JOB_S + records * RECORD_S,
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The whole histogram equals numpy's count of counts."""
        vertices, degrees = np.unique(graph.edges, return_counts=True)
        values, numbers = np.unique(degrees, return_counts=True)
        expected = dict(zip(values.tolist(), numbers.tolist(), strict=True))
        if len(graph.lone):
            expected[0] = len(graph.lone)
        found = _histogram(store, self.output)
        wrong = sorted(set(found) ^ set(expected.items()))
        facts = (len(vertices) + len(graph.lone), len(graph.edges), len(expected))
        told = tuple(report.result.get(name) for name in ("vertices", "edges", "degrees"))
        return (
            verdict(
                "the histogram equals numpy's",
                passed=not wrong,
                detail=f"{len(expected)} degrees; the first that differs is {wrong[0][0]}" if wrong else "all equal",
            ),
            verdict(
                "every degree appears once",
                passed=len({degree for degree, _ in found}) == len(found),
                detail=f"{len(found)} lines",
            ),
            verdict("counters equal the graph's", passed=told == facts, detail=f"{told} and {facts}"),
        )


def _histogram(store: Store, path: str) -> list[tuple[int, int]]:
    """The lines of the output. Raises AssayError for one that is not a degree and a number."""
    found = []
    for line in store.lines(path):
        degree, _, number = line.partition(b"\t")
        if not (degree.isdigit() and number.isdigit()):
            raise AssayError(
                f"the output of degree-distribution has a line that is not `degree<TAB>vertices`: {line!r}"
            )
        found.append((int(degree), int(number)))
    return found


WORKLOADS.add("degree-distribution", DegreeDistribution, place=4)

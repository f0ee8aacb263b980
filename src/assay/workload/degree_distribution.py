"""Degree distribution: how many vertices have each degree (2 jobs)."""

import numpy as np

from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.workload.base import counters_agree, output_rows, whole
from assay.workload.graph import GraphWorkload


class DegreeDistribution(GraphWorkload):
    """Ends of edges are added up by vertex, then vertices by degree."""

    summary = "counts how many vertices have each degree"
    stresses = "job starts, and sorting and combining in maps; little is shuffled"
    source = "the standard definition"
    result = "`degree<TAB>vertices` for each degree that occurs; a vertex without an edge has degree 0"
    verified = "the histogram equals numpy's; the counters equal the vertices, edges and degrees"

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        graph = self.input.graph()
        vertices, degrees = np.unique(graph.edges, return_counts=True)
        values, numbers = np.unique(degrees, return_counts=True)
        expected = dict(zip(values.tolist(), numbers.tolist(), strict=True))
        if len(graph.lone):
            expected[0] = len(graph.lone)
        histogram = list(output_rows(store.lines(self.output_path), self.spec.name, degree=whole, vertices=whole))
        wrong = sorted(set(histogram) ^ set(expected.items()))
        counters = {"vertices": len(vertices) + len(graph.lone), "edges": len(graph.edges), "degrees": len(expected)}
        return (
            verdict(
                "the histogram equals numpy's",
                passed=not wrong,
                detail=f"{len(expected)} degrees; the first that differs is {wrong[0][0]}" if wrong else "all equal",
            ),
            verdict(
                "every degree appears once",
                passed=len({degree for degree, _ in histogram}) == len(histogram),
                detail=f"{len(histogram)} lines",
            ),
            *counters_agree(report, counters),
        )


WORKLOADS.add("degree-distribution", DegreeDistribution, place=4)

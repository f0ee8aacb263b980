"""Triangle counting: how many triples of vertices are all connected (thesis section 4.3, algorithm 3)."""

import numpy as np

from assay.model.dataset import Amounts, Graph
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Cost, Option, Variant
from assay.workload.base import RECORD_S, counters_agree, spark_variant
from assay.workload.graph import (
    EDGES,
    SHIPPED_BYTES,
    STAGED,
    VERIFY,
    GraphWorkload,
    Oracle,
    degree_order_counters,
    directed,
)

# A triad is a line of two ids and a flag in HDFS, and a binary record that is spilled and once merged on each side.
_TRIAD_LINE_BYTES, _TRIAD_SHUFFLE_BYTES = 20, 3 * 26
# An edge in the blocks that `partition` ships, of ids that differ little from one to the next.
_BLOCK_BYTES = 8
_IN_MEMORY, _MOST_IN_MEMORY = "edges-in-memory", 1 << 29
# What the job that closes the triads holds in HDFS and in its spills at once.
_BY_ID, _BY_DEGREE = Amounts(edges=1, wedges_by_id=1), Amounts(edges=1, wedges_by_degree=1)
_LISTS_COST = directed(3, EDGES, SHIPPED_BYTES * EDGES, lists=True)


class Triangles(GraphWorkload):
    """Open triads are listed at their lowest vertex and closed by edges, or lists or parts of the graph intersected."""

    summary = "counts the triangles: triples of vertices that are all connected"
    stresses = "HDFS and the shuffle, with a record for each open triad; little computing"
    source = "thesis section 4.3, algorithm 3"
    result = "one line with the number; in `tuned`, `intersect` and `partition` a line per reduce task, to be added up"
    verified = (
        "the number equals NetworKit's count of triangles; the jobs' counters of vertices, edges and open triads "
        "equal numpy's (in `partition` of edges, in `graphx` of vertices and edges)"
    )
    variants = {
        "paper": Variant(
            about="as published: open triads are listed at their smallest vertex, closed by edges, and added up",
            jobs=("triads", "closing", "total"),
            command="triangles",
            cost=Cost(
                jobs=3,
                seconds=RECORD_S * _BY_ID,
                memory_bytes=VERIFY,
                disk_bytes=2 * STAGED + (_TRIAD_LINE_BYTES + _TRIAD_SHUFFLE_BYTES) * _BY_ID,
            ),
        ),
        "tuned": Variant(
            about="open triads are listed at their vertex of lowest degree: far fewer of them",
            jobs=("degrees", "triads", "closing"),
            command="triangles-tuned",
            cost=directed(3, _BY_DEGREE, (_TRIAD_LINE_BYTES + SHIPPED_BYTES) * _BY_DEGREE),
        ),
        "intersect": Variant(
            about="no open triads: lists of neighbours of higher degree are sent along edges and intersected",
            jobs=("degrees", "directions", "intersection"),
            command="triangles-intersect",
            cost=_LISTS_COST,
        ),
        "partition": Variant(
            about="one job: reducers hold parts of the graph in memory; each counts the triangles among three parts",
            jobs=("counting",),
            command="triangles-partition",
            cost=Cost(
                jobs=1,
                seconds=RECORD_S * EDGES,
                disk_bytes=2 * STAGED + 3 * _BLOCK_BYTES * EDGES,
                memory_bytes=VERIFY,
            ),
        ),
        "graphx": spark_variant("triangles-graphx", "Spark's GraphX: sets of neighbours are intersected", _LISTS_COST),
        "rdd": spark_variant(
            "triangles-rdd", "on Spark's resilient distributed datasets: lists are sent as in `intersect`", _LISTS_COST
        ),
    }

    known_options = {
        _IN_MEMORY: Option(
            "4000000",
            "that a reducer may hold, 30 bytes each: a larger graph is cut into parts; variant `partition` only",
        ),
    }

    def read_options(self) -> None:
        if self.options.count(_IN_MEMORY) > _MOST_IN_MEMORY:
            raise self.options.refusal(_IN_MEMORY, f"at most {_MOST_IN_MEMORY}")
        if _IN_MEMORY in self.spec.options and self.spec.variant != "partition":
            raise self.options.refusal(_IN_MEMORY, f"left out: variant {self.spec.variant} holds no part of the graph")

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        lines = [line.strip() for line in store.lines(self.output_path) if line]
        one_line = self.spec.variant not in {"tuned", "intersect", "partition"}
        if not lines or (one_line and len(lines) != 1) or not all(line.isdigit() for line in lines):
            requirement = "one number" if one_line else "numbers, one of each reduce task"
            raise AssayError(f"the output of triangles should be {requirement}, and is {lines[:3]!r}")
        oracle = Oracle(graph := self.input.graph())
        total, expected = sum(map(int, lines)), oracle.triangles
        counted = report.result.get("triangles")
        return (
            verdict(
                "triangles equal NetworKit's count",
                passed=total == expected,
                detail=f"{total} in the output, {expected} expected",
            ),
            verdict("counter equals output", passed=counted == total, detail=f"counter {counted}, output {total}"),
            self._judge_counters(oracle, graph, report),
        )

    def _judge_counters(self, oracle: Oracle, graph: Graph, report: LaunchReport) -> CheckResult:
        if self.spec.variant == "partition":
            return counters_agree(report, {"edges": len(graph.edges)})
        if self.spec.variant == "graphx":
            return counters_agree(report, {"vertices": len(oracle.vertices), "edges": len(graph.edges)})
        if self.spec.variant != "paper":
            return degree_order_counters(oracle, report)
        # An open triad is a pair of edges with the same lower end.
        leaving = np.unique(graph.edges[:, 0], return_counts=True)[1]
        return counters_agree(report, {"edges": len(graph.edges), "wedges": int((leaving * (leaving - 1) // 2).sum())})


WORKLOADS.add("triangles", Triangles, place=1)

"""Triangle counting: how many triples of vertices are all connected (thesis section 4.3, algorithm 3)."""

from assay.model.dataset import Amounts
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Cost, Option, Variant
from assay.workload.base import RECORD_S
from assay.workload.graph import (
    EDGES,
    SHIPPED_BYTES,
    STAGED,
    VERIFY,
    GraphWorkload,
    Oracle,
    directed,
    judge_counters,
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
            counters={"edges": "edges", "wedges": "wedges_by_id"},
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
            in_parts=True,
            cost=directed(3, _BY_DEGREE, (_TRIAD_LINE_BYTES + SHIPPED_BYTES) * _BY_DEGREE),
        ),
        "intersect": Variant(
            about="no open triads: lists of neighbours of higher degree are sent along edges and intersected",
            jobs=("degrees", "directions", "intersection"),
            command="triangles-intersect",
            in_parts=True,
            cost=_LISTS_COST,
        ),
        "partition": Variant(
            about="one job: reducers hold parts of the graph in memory; each counts the triangles among three parts",
            jobs=("counting",),
            command="triangles-partition",
            options=(_IN_MEMORY,),
            counters={"edges": "edges"},
            in_parts=True,
            cost=Cost(
                jobs=1,
                seconds=RECORD_S * EDGES,
                disk_bytes=2 * STAGED + 3 * _BLOCK_BYTES * EDGES,
                memory_bytes=VERIFY,
            ),
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

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        lines = [line.strip() for line in store.lines(self.output_path) if line]
        one_line = not self.variant.in_parts
        if not lines or (one_line and len(lines) != 1) or not all(line.isdigit() for line in lines):
            requirement = "one number" if one_line else "numbers, one of each reduce task"
            raise AssayError(f"the output of triangles should be {requirement}, and is {lines[:3]!r}")
        oracle = Oracle(self.input.graph())
        total, expected = sum(map(int, lines)), oracle.triangles
        counted = report.result.get("triangles")
        return (
            verdict(
                "triangles equal NetworKit's count",
                passed=total == expected,
                detail=f"{total} in the output, {expected} expected",
            ),
            verdict("counter equals output", passed=counted == total, detail=f"counter {counted}, output {total}"),
            judge_counters(self.variant, oracle, report),
        )


WORKLOADS.add("triangles", Triangles, place=1)

"""Triangle counting: how many triples of vertices are all connected (thesis section 4.3, algorithm 3)."""

from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Option
from assay.workload.graph import GraphWorkload, Oracle, judge_counters

_IN_MEMORY, _MOST_IN_MEMORY = "edges-in-memory", 1 << 29


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
            *judge_counters(self.variant, oracle, report),
        )


WORKLOADS.add("triangles", Triangles, place=1)

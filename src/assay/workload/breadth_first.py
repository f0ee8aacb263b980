"""Breadth-first distances: hops of each vertex from the nearest of given ones (1 job, and 1 per hop)."""

import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from assay.model.doubt import Verdict
from assay.model.engine import LaunchReport
from assay.model.errors import BadInputError
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload, Oracle, judge_counters, judge_values, read_values

SMALLEST = "smallest"
MOST_SOURCES = 32
# Each iteration holds the adjacency text twice in HDFS (read and written) and about three times in spills and merges.
ADJACENCY_BYTES = 10
COPIES = 5
# Social networks are small worlds; one iteration per hop to the farthest vertex, and one that finds none.
LIKELY_ITERATIONS = 10
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class BreadthFirstDistances(GraphWorkload):
    """A frontier moves outwards by one hop per job, and the adjacency lists are passed on with it."""

    summary: ClassVar[str] = "counts the hops of each vertex from the nearest of given vertices; -1 without a path"
    stresses: ClassVar[str] = (
        "job starts and HDFS: each job reads, shuffles and writes the whole graph; all jobs together send two "
        "messages per edge"
    )
    source: ClassVar[str] = "Lin and Dyer, Data-Intensive Text Processing with MapReduce, 2010, section 5.2"
    result: ClassVar[str] = "`vertex<TAB>hops<TAB>0<TAB>neighbours`"
    verified: ClassVar[str] = (
        "every distance, and the counters of reached vertices, levels, iterations and messages, equal those of "
        "NetworKit's breadth-first searches"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="one job per hop reaches the neighbours of the previous job's vertices",
            jobs=("friend-lists", "iteration 1", "..."),
            command="breadth-first-distances",
        )
    }
    defaults: ClassVar[Mapping[str, str]] = {"from": SMALLEST}
    option_help: ClassVar[Mapping[str, str]] = {
        "from": "1 to 32 ids of source vertices, separated by + or spaces; `smallest` is the smallest id of the graph",
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown, or `from` is not a list of vertex ids."""
        super().__init__(spec, base)
        text = self.options.text("from").strip()
        fields = [] if text == SMALLEST else re.split(r"[+ ]+", text)
        if not all(field.isascii() and field.isdecimal() and int(field) < 1 << 63 for field in fields):
            raise self._refusal()
        self._sources = sorted({int(field) for field in fields})
        if len(self._sources) > MOST_SOURCES:
            raise self._refusal()

    def _refusal(self) -> BadInputError:
        wanted = f"1 to {MOST_SOURCES} vertex ids with + or spaces between them, or `{SMALLEST}`"
        return self.options.refusal("from", wanted)

    def command_options(self) -> tuple[str, ...]:
        """The sources; without any the first job finds the smallest vertex."""
        return (f"--from={'+'.join(map(str, self._sources))}",) if self._sources else ()

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All iterations are alike; each deletes its predecessor's output."""
        ids = facts.nodes + 2 * facts.edges
        return Estimate(
            disk_bytes=2 * staged_bytes + ids * ADJACENCY_BYTES * COPIES,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=LIKELY_ITERATIONS * (JOB_S + ids * RECORD_S),
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Each vertex' distance, and what the jobs counted, equal those of NetworKit's breadth-first searches."""
        oracle = Oracle(graph)
        sources = self._sources or oracle.vertices[:1].tolist()
        expected = oracle.distances(sources)
        is_reached = expected >= 0
        reached, levels = int(is_reached.sum()), int(expected.max())
        counters = {
            "vertices": len(expected),
            "reached": reached,
            "levels": levels,
            "iterations": levels + 1,
            "messages": int(np.where(is_reached, oracle.degrees, 0).sum()),
        }
        found = read_values(store, self.output, "breadth-first-distances")
        seen = f"{reached} of {len(expected)} vertices reached in {levels} hops"
        return (
            *judge_values(found, oracle.vertices, expected, "the distances equal NetworKit's", seen),
            judge_counters(report.result, counters),
        )


WORKLOADS.add("breadth-first-distances", BreadthFirstDistances, place=6)

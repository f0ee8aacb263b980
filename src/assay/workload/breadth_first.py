"""Breadth-first distances: hops of each vertex from the nearest of given ones (1 job, and 1 per hop)."""

import re

import numpy as np

from assay.model.registry import WORKLOADS
from assay.model.workload import Option
from assay.workload.graph import ExpectedValues, Oracle, VertexValues

SMALLEST = "smallest"
MOST_SOURCES = 32


class BreadthFirstDistances(VertexValues):
    """A frontier moves outwards by one hop per job, and the adjacency lists are passed on with it."""

    summary = "counts the hops of each vertex from the nearest of given vertices; -1 without a path"
    stresses = (
        "job starts and HDFS: each job reads, shuffles and writes the whole graph; all jobs together send two "
        "messages per edge"
    )
    source = "Lin and Dyer, Data-Intensive Text Processing with MapReduce, 2010, section 5.2"
    result = "`vertex<TAB>hops<TAB>0<TAB>neighbours`"
    verified = (
        "every distance, and the counters of reached vertices, levels, iterations and messages, equal those of "
        "NetworKit's breadth-first searches"
    )
    known_options = {
        "from": Option(
            SMALLEST,
            "1 to 32 ids of source vertices, separated by + or spaces; `smallest` is the smallest id of the graph",
        ),
    }

    def read_options(self) -> None:
        text = self.options.text("from").strip()
        fields = [] if text == SMALLEST else re.split(r"[+ ]+", text)
        are_ids = all(field.isascii() and field.isdecimal() and int(field) < 1 << 63 for field in fields)
        self._sources = sorted(set(map(int, fields))) if are_ids else []
        if not are_ids or len(self._sources) > MOST_SOURCES:
            requirement = f"1 to {MOST_SOURCES} vertex ids with + or spaces between them, or `{SMALLEST}`"
            raise self.options.refusal("from", requirement)

    def command_options(self) -> tuple[str, ...]:
        """Pass the sources; without any the first job finds the smallest vertex."""
        return (f"--from={'+'.join(map(str, self._sources))}",) if self._sources else ()

    def expected(self, oracle: Oracle) -> ExpectedValues:
        hops = oracle.distances(self._sources or oracle.vertices[:1].tolist())
        is_reached = hops >= 0
        reached, levels = int(is_reached.sum()), int(hops.max())
        counters = {
            "vertices": len(hops),
            "reached": reached,
            "levels": levels,
            "iterations": levels + 1,
            "messages": int(np.where(is_reached, oracle.degrees, 0).sum()),
        }
        summary = f"{reached} of {len(hops)} vertices reached in {levels} hops"
        return ExpectedValues(hops, "the distances equal NetworKit's", summary, counters)


WORKLOADS.add("breadth-first-distances", BreadthFirstDistances, place=6)

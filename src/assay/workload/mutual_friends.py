"""Mutual friends: for each edge the vertices connected to both its ends (thesis section 4.1, algorithm 1)."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
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

# A triple is a binary record of three ids that is spilled, and merged on each side.
TRIPLE_SHUFFLE_BYTES = 3 * 26
# Resident memory of the verification, by edge: the graph, NetworKit's copy with edge ids, and lists of both ends.
VERIFY_EDGE_BYTES = 250
# Every edge's list is compared up to this many edges; above it a seeded sample of this size.
SAMPLE_EDGES = 300_000


class MutualFriends(GraphWorkload):
    """The triples that two friend lists have in common, or the triangles in degree order, become lists of friends."""

    summary: ClassVar[str] = "lists, for each edge, the vertices connected to both its ends"
    stresses: ClassVar[str] = "spills, merges and the shuffle, with a record for each pair of a vertex's friends"
    source: ClassVar[str] = "thesis section 4.1, algorithm 1"
    result: ClassVar[str] = "`u<TAB>v<TAB>w1 w2 ...` for each edge with a mutual friend"
    verified: ClassVar[str] = (
        "each edge's list equals the graph's (on large graphs those of 300,000 drawn edges); the lists add up to "
        "three times NetworKit's triangles; in `paper` the counter of triples fits the degrees"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as published: triples from friend lists",
            jobs=("friend-lists", "triples", "lists"),
            command="mutual-friends",
        ),
        "tuned": Variant(
            about="each triangle is listed once, by open triads at its vertex of lowest degree",
            jobs=("degrees", "directions", "closing", "lists"),
            command="mutual-friends-tuned",
        ),
        "intersect": Variant(
            about="each triangle is listed once, by intersecting lists of neighbours of higher degree",
            jobs=("degrees", "directions", "intersection", "lists"),
            command="mutual-friends-intersect",
        ),
    }
    defaults: ClassVar[Mapping[str, str]] = {"literal-loops": "false"}
    option_help: ClassVar[Mapping[str, str]] = {
        "literal-loops": "send an edge's own ends as candidates too, as the published pseudo-code does; variant "
        "`paper` only; more records, same result"
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown, or not one of the variant's."""
        super().__init__(spec, base)
        if spec.variant != "paper" and "literal-loops" in spec.options:
            raise BadInputError(
                f"workload mutual-friends: literal-loops is an option of variant paper; leave it out of {spec.variant}"
            )

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The triples, or the triads and triangles, of the largest job decide."""
        jobs = len(self.variants[self.spec.variant].jobs)
        disk_bytes, records = self._estimated_work(facts, staged_bytes)
        return Estimate(
            disk_bytes=disk_bytes,
            memory_bytes=VERIFY_EDGE_BYTES * (facts.nodes + facts.edges),
            seconds=jobs * JOB_S + records * RECORD_S,
        )

    def _estimated_work(self, facts: GraphFacts, staged_bytes: int) -> tuple[int, int]:
        """Bytes on the medium at the worst moment, and records shipped in all jobs."""
        if self.spec.variant == "paper":
            return 4 * staged_bytes + facts.degree_squares * TRIPLE_SHUFFLE_BYTES, facts.degree_squares
        wedges = facts.most_wedges_by_degree
        # There is at most one triangle for each wedge.
        friends = 3 * (wedges if facts.triangles is None else facts.triangles)
        closing = facts.edges + (wedges if self.spec.variant == "tuned" else 0)
        disk_bytes = directing_disk_bytes(facts, staged_bytes) + max(closing, 2 * friends) * SHIPPED_BYTES
        return disk_bytes, closing + friends + directing_records(facts)

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Each list is as long as NetworKit counts for its edge, and the same list (all edges, or a sample)."""
        oracle = Oracle(graph)
        expected = oracle.common_friends
        lengths = np.zeros(len(expected), dtype=np.int64)
        sample = _sample_rows(len(expected))
        strangers = doubles = differing = compared = 0
        for row, friends in self._rows(graph, store):
            if row < 0:
                strangers += 1
                continue
            doubles += int(lengths[row] > 0)
            lengths[row] += len(friends)
            if sample[row]:
                compared += 1
                differing += int(friends != oracle.friends_in_common(row))
        wrong, drawn = int((lengths != expected).sum()), int(sample.sum())
        total, told = int(lengths.sum()), report.result.get("mutual_friends")
        return (
            verdict(
                "every edge has as many mutual friends as NetworKit counts",
                passed=wrong == strangers == doubles == 0,
                detail=f"{len(expected)} edges; {wrong} differ, {strangers} lines of no edge, {doubles} edges twice",
            ),
            verdict(
                "the lists equal NetworKit's",
                passed=differing == 0,
                detail=f"{compared} lists compared, {drawn} of {len(expected)} edges drawn; {differing} differ",
            ),
            verdict(
                "the lists add up to 3 x triangles",
                passed=total == 3 * oracle.triangles == told,
                detail=f"{total} in the lists, counter {told}, 3 x {oracle.triangles} triangles",
            ),
            self._counted(oracle, report) if self.spec.variant == "paper" else counted_right(oracle, report),
        )

    def _counted(self, oracle: Oracle, report: LaunchReport) -> Verdict:
        """A triple for each pair of different friends of a vertex, or of any with the literal loops."""
        degrees = oracle.degrees
        pairs = degrees * degrees if self.options.flag("literal-loops") else degrees * (degrees - 1)
        return judge_counters(report.result, {"triples": int(pairs.sum())})

    def _rows(self, graph: Graph, store: Store) -> Iterator[tuple[int, list[int]]]:
        """For each output line the row of its edge in the graph (-1: no such edge) and its list."""
        row_of = _RowFinder(graph)
        for line in store.lines(self.output):
            fields = line.split(b"\t")
            friends = fields[2].split() if len(fields) == 3 else []
            if not friends or not all(field.isdigit() for field in (*fields[:2], *friends)):
                raise AssayError(f"the output of mutual-friends has a line that is not `u, v, list`: {line[:80]!r}")
            yield row_of(int(fields[0]), int(fields[1])), [int(friend) for friend in friends]


class _RowFinder:
    """Finds an edge's row in the sorted edges without a dictionary of them all."""

    def __init__(self, graph: Graph) -> None:
        self._edges = graph.edges
        self._sources, self._starts = np.unique(graph.edges[:, 0], return_index=True)
        self._ends = np.append(self._starts[1:], len(graph.edges))

    def __call__(self, u: int, v: int) -> int:
        at = int(np.searchsorted(self._sources, u))
        if at == len(self._sources) or self._sources[at] != u:
            return -1
        start, end = int(self._starts[at]), int(self._ends[at])
        row = start + int(np.searchsorted(self._edges[start:end, 1], v))
        return row if row < end and self._edges[row, 1] == v else -1


def _sample_rows(edges: int) -> NDArray[np.bool_]:
    """Which edges' lists are compared: all, or a seeded sample without replacement."""
    chosen = np.ones(edges, dtype=bool)
    if edges > SAMPLE_EDGES:
        chosen[:] = False
        chosen[np.random.default_rng(1).choice(edges, SAMPLE_EDGES, replace=False)] = True
    return chosen


WORKLOADS.add("mutual-friends", MutualFriends, place=2)

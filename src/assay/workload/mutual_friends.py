"""Mutual friends: for each edge the vertices connected to both its ends (thesis section 4.1, algorithm 1)."""

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Option
from assay.workload.base import output_rows, whole
from assay.workload.graph import GraphWorkload, Oracle, judge_counters

_LITERAL_LOOPS = "literal-loops"
# Every edge's list is compared up to this many edges; above it a seeded sample of this size.
SAMPLE_EDGES = 300_000


class MutualFriends(GraphWorkload):
    """The triples that two friend lists have in common, or the triangles in degree order, become lists of friends."""

    summary = "lists, for each edge, the vertices connected to both its ends"
    stresses = "spills, merges and the shuffle, with a record for each pair of a vertex's friends"
    source = "thesis section 4.1, algorithm 1"
    result = "`u<TAB>v<TAB>w1 w2 ...` for each edge with a mutual friend"
    verified = (
        "each edge's list equals the graph's (on large graphs those of 300,000 drawn edges); the lists add up to "
        "three times NetworKit's triangles; in `paper` the counter of triples fits the degrees"
    )
    known_options = {
        _LITERAL_LOOPS: Option(
            "false",
            "send an edge's own ends as candidates too, as the published pseudo-code does; variant "
            "`paper` only; more records, same result",
        ),
    }

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        oracle = Oracle(graph := self.input.graph())
        expected = oracle.common_friends
        lengths = np.zeros(len(expected), dtype=np.int64)
        sample = _sample_rows(len(expected))
        strangers = doubles = differing = compared = 0
        columns = {
            "u": whole,
            "v": whole,
            "friends": lambda field: [whole(friend) for friend in field.split() or [field]],
        }
        for u, v, friends in output_rows(store.lines(self.output_path), self.spec.name, **columns):
            start, end = np.searchsorted(graph.edges[:, 0], u), np.searchsorted(graph.edges[:, 0], u, "right")
            row = int(start + np.searchsorted(graph.edges[start:end, 1], v))
            if row == end or graph.edges[row, 1] != v:
                strangers += 1
                continue
            doubles += int(lengths[row] > 0)
            lengths[row] += len(friends)
            if sample[row]:
                compared += 1
                differing += int(friends != oracle.friends_in_common(row))
        # A triple for each pair of different friends of a vertex, or of any with the literal loops.
        pairs = oracle.degrees * (oracle.degrees - (0 if self.options.flag(_LITERAL_LOOPS) else 1))
        wrong, drawn = int((lengths != expected).sum()), int(sample.sum())
        total, counted = int(lengths.sum()), report.result.get("mutual_friends")
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
                passed=total == 3 * oracle.triangles == counted,
                detail=f"{total} in the lists, counter {counted}, 3 x {oracle.triangles} triangles",
            ),
            *judge_counters(self.variant, oracle, report, triples=int(pairs.sum())),
        )


def _sample_rows(edges: int) -> NDArray[np.bool_]:
    """Choose the edges whose lists are compared: all, or a seeded sample without replacement."""
    chosen = np.ones(edges, dtype=bool)
    if edges > SAMPLE_EDGES:
        chosen[:] = False
        chosen[np.random.default_rng(1).choice(edges, SAMPLE_EDGES, replace=False)] = True
    return chosen


WORKLOADS.add("mutual-friends", MutualFriends, place=2)

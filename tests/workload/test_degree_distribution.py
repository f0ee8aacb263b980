"""Proves that the verifier passes the right degrees of a random graph and fails any that is wrong."""

from collections import Counter

import numpy as np
import pytest

from assay.model.dataset import Graph
from assay.model.doubt import Outcome, overall
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.trial import WorkloadSpec
from assay.workload.degree_distribution import DegreeDistribution
from assay_extras.testing.fakes import FakeStore, Script
from tests.workload.stored import GivenGraph


@pytest.fixture(scope="module")
def graph():
    """Random edges, some between ids near 2^62, and lone vertices (also vertex 0)."""
    source = np.random.default_rng(5)
    pairs = np.concatenate(
        [source.integers(1, 60, size=(250, 2)), source.integers(1 << 62, (1 << 62) + 9, size=(20, 2))]
    )
    edges = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return Graph(edges=edges, lone=np.array([0, 200], dtype=np.int64))


def brute_force(graph):
    degrees = Counter(end for edge in graph.edges.tolist() for end in edge)
    for vertex in graph.lone.tolist():
        degrees[vertex] = 0
    return degrees, Counter(degrees.values())


def outcome(graph, lines, result):
    store = FakeStore(Script())
    store.files["/base/output/part-r-00000"] = lines
    workload = DegreeDistribution(WorkloadSpec(name="degree-distribution", variant="plain"), "/base", GivenGraph(graph))
    return overall(workload.verify(store, LaunchReport(jobs=(), result=result)))


def test_degree_distribution(graph):
    degrees, histogram = brute_force(graph)
    lines = [f"{degree}\t{number}".encode() for degree, number in histogram.items()]
    right = {"vertices": len(degrees), "edges": len(graph.edges), "degrees": len(histogram)}
    assert outcome(graph, lines, right) is Outcome.PASS
    assert outcome(graph, lines[::-1], right) is Outcome.PASS
    degree, number = next(iter(histogram.items()))
    changed = f"{degree}\t{number + 1}".encode()
    for wrong in ([changed, *lines[1:]], lines[1:], [*lines, lines[0]], [*lines, b"999\t1"]):
        assert outcome(graph, wrong, right) is Outcome.FAIL
    without_lone = [line for line in lines if not line.startswith(b"0\t")]
    assert outcome(graph, without_lone, right) is Outcome.FAIL
    for name in right:
        assert outcome(graph, lines, {**right, name: 1}) is Outcome.FAIL
    with pytest.raises(AssayError, match="not `degree<TAB>vertices`"):
        outcome(graph, [b"3"], right)


def test_a_graph_without_edges():
    empty = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 4], dtype=np.int64))
    assert outcome(empty, [b"0\t2"], {"vertices": 2, "edges": 0, "degrees": 1}) is Outcome.PASS

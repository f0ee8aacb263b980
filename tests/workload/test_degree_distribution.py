"""Proves that the verifier passes the right degrees of a random graph and fails any that is wrong."""

from collections import Counter

import numpy as np
import pytest

from assay.model.dataset import Graph
from assay.model.doubt import Outcome
from assay.model.errors import AssayError
from assay.workload.degree_distribution import DegreeDistribution
from tests.workload.per_vertex import a_graph, outcome


@pytest.fixture(scope="module")
def graph():
    return a_graph()


def brute_force(graph):
    degrees = Counter(end for edge in graph.edges.tolist() for end in edge)
    for vertex in graph.lone.tolist():
        degrees[vertex] = 0
    return degrees, Counter(degrees.values())


def judged(graph, lines, result):
    return outcome(DegreeDistribution, graph, lines, result, variant="plain")


def test_degree_distribution(graph):
    degrees, histogram = brute_force(graph)
    lines = [f"{degree}\t{number}".encode() for degree, number in histogram.items()]
    right = {"vertices": len(degrees), "edges": len(graph.edges), "degrees": len(histogram)}
    assert judged(graph, lines, right) is Outcome.PASS
    assert judged(graph, lines[::-1], right) is Outcome.PASS
    degree, number = next(iter(histogram.items()))
    changed = f"{degree}\t{number + 1}".encode()
    for wrong in ([changed, *lines[1:]], lines[1:], [*lines, lines[0]], [*lines, b"999\t1"]):
        assert judged(graph, wrong, right) is Outcome.FAIL
    without_lone = [line for line in lines if not line.startswith(b"0\t")]
    assert judged(graph, without_lone, right) is Outcome.FAIL
    for name in right:
        assert judged(graph, lines, {**right, name: 1}) is Outcome.FAIL
    with pytest.raises(AssayError, match="not `degree<TAB>vertices`"):
        judged(graph, [b"3"], right)


def test_a_graph_without_edges():
    empty = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 4], dtype=np.int64))
    assert judged(empty, [b"0\t2"], {"vertices": 2, "edges": 0, "degrees": 1}) is Outcome.PASS

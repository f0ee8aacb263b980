"""Proves that communities are judged by the rule that makes them, and that its bound is checked."""

from collections import Counter

import numpy as np
import pytest

from assay.model.dataset import Graph
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.trial import WorkloadSpec
from assay.workload.label_propagation import LabelPropagation
from tests.workload.per_vertex import a_graph, assert_judged_right, lines_of, neighbours_of, outcome, verdicts


def labels_of(neighbours, bound):
    """Labels, iterations and the last one's changes, vertex by vertex."""
    labels, iterations, changed = {vertex: vertex for vertex in neighbours}, 0, 1
    while changed and iterations < bound:
        former, changed, iterations = dict(labels), 0, iterations + 1
        for vertex, near in neighbours.items():
            votes = Counter(former[other] for other in [vertex, *near])
            labels[vertex] = min(label for label, count in votes.items() if count == max(votes.values()))
            changed += labels[vertex] != former[vertex]
    return labels, iterations, changed


def judged_parts(graph, bound):
    labels, iterations, changed = labels_of(neighbours_of(graph), bound)
    messages = iterations * 2 * len(graph.edges)
    return labels, {"vertices": len(labels), "iterations": iterations, "changed": changed, "messages": messages}


@pytest.mark.slow
@pytest.mark.parametrize("bound", [1, 2, 5, 40])
def test_every_corruption_is_found(bound):
    graph = a_graph()
    labels, result = judged_parts(graph, bound)
    assert_judged_right(LabelPropagation, graph, labels, result, iterations=str(bound))


@pytest.mark.parametrize("bound", [5, 6])
def test_labels_that_alternate_have_those_of_the_bound(bound):
    sides = [[2 * u, 2 * v + 1] for u in range(4) for v in range(4)]
    graph = Graph(edges=np.unique(np.sort(sides, axis=1), axis=0), lone=np.zeros(0, dtype=np.int64))
    labels, result = judged_parts(graph, bound)
    assert result["changed"] > 0
    assert outcome(LabelPropagation, graph, lines_of(labels), result, iterations=str(bound)) is Outcome.PASS
    other, _ = judged_parts(graph, bound - 1)
    assert outcome(LabelPropagation, graph, lines_of(other), result, iterations=str(bound)) is Outcome.FAIL


def test_the_modularity_of_two_triangles_joined_by_an_edge():
    edges = np.array([[1, 2], [1, 3], [2, 3], [3, 4], [4, 5], [4, 6], [5, 6]], dtype=np.int64)
    graph = Graph(edges=edges, lone=np.zeros(0, dtype=np.int64))
    labels, result = judged_parts(graph, 5)
    found = verdicts(LabelPropagation, graph, lines_of(labels), result)
    sizes = Counter(labels.values())
    degree = Counter(edges.reshape(-1).tolist())
    within = sum(labels[u] == labels[v] for u, v in edges.tolist())
    share = sum((sum(degree[v] for v in labels if labels[v] == label) / 14) ** 2 for label in sizes)
    assert f"modularity {within / 7 - share:.4f}" in found[1].detail


def test_a_graph_without_edges():
    empty = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 4], dtype=np.int64))
    result = {"vertices": 2, "iterations": 1, "changed": 0, "messages": 0}
    assert outcome(LabelPropagation, empty, lines_of({3: 3, 4: 4}), result) is Outcome.PASS


@pytest.mark.parametrize("text", ["0", "-1", "many", "2.5", ""])
def test_a_bound_that_is_no_count_is_refused(text):
    with pytest.raises(BadInputError, match="iterations is .* a whole number from 1 on"):
        LabelPropagation(WorkloadSpec(name="label-propagation", options={"iterations": text}), "/base")


def test_the_command_gets_the_bound():
    assert LabelPropagation(WorkloadSpec(name="label-propagation"), "/base").command_options() == ("--iterations=5",)

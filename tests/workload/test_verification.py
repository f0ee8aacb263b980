"""Proves that each verifier passes the right output of a random graph and fails it when one value is changed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from assay.model.dataset import Graph
from assay.model.doubt import Outcome, overall
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.trial import WorkloadSpec
from assay.workload import mutual_friends
from assay.workload.components import Components
from assay.workload.mutual_friends import MutualFriends
from assay.workload.triangles import Triangles
from assay_extras.testing.fakes import FakeStore, Script
from tests.workload.per_vertex import a_graph, neighbours_of
from tests.workload.stored import GivenGraph, name_of


@pytest.fixture(scope="module")
def graph():
    return a_graph(seed=5, edges=250)


@pytest.fixture(scope="module")
def neighbours(graph):
    return neighbours_of(graph)


@pytest.fixture(scope="module")
def friends(graph, neighbours):
    """Brute force: for each edge the sorted list of common neighbours, where there is one."""
    lists = {(u, v): sorted(neighbours[u] & neighbours[v]) for u, v in graph.edges.tolist()}
    return {edge: common for edge, common in lists.items() if common}


def labels_of(graph, neighbours):
    label = {vertex: vertex for vertex in neighbours}
    changed = True
    while changed:
        changed = False
        for vertex in label:
            least = min([label[vertex], *(label[n] for n in neighbours[vertex])])
            changed |= least < label[vertex]
            label[vertex] = least
    return label


def moved(graph, literal_loops=False):
    """What `paper` must count on its way, by brute force: open triads by id, and triples."""
    degrees = Counter(graph.edges.ravel().tolist()).values()
    return {
        "edges": len(graph.edges),
        "wedges": sum(first == second for (first, _), (second, _) in combinations(graph.edges.tolist(), 2)),
        "triples": sum(degree * (degree if literal_loops else degree - 1) for degree in degrees),
    }


def judged(kind, graph, lines, result, **options):
    workload = kind(WorkloadSpec(name=name_of(kind), options=options), "/base", GivenGraph(graph))
    store = FakeStore(Script())
    store.files["/base/output/part-r-00000"] = lines
    report = LaunchReport(jobs=(), result={**moved(graph), **result})
    return overall(workload.verify(store, report))


def friend_lines(friends):
    return [f"{u}\t{v}\t{' '.join(map(str, common))}".encode() for (u, v), common in friends.items()]


def component_lines(graph, neighbours):
    return [f"{vertex}\t{label}\t0\t".encode() for vertex, label in labels_of(graph, neighbours).items()]


def test_triangles(graph, friends):
    triangles = sum(map(len, friends.values())) // 3
    right = [str(triangles).encode()]
    assert judged(Triangles, graph, right, {"triangles": triangles}) is Outcome.PASS
    assert judged(Triangles, graph, [str(triangles + 1).encode()], {"triangles": triangles + 1}) is Outcome.FAIL
    assert judged(Triangles, graph, right, {"triangles": triangles - 1}) is Outcome.FAIL
    with pytest.raises(AssayError, match="should be one number"):
        judged(Triangles, graph, [], {"triangles": triangles})


@pytest.mark.parametrize("name", ["edges", "wedges"])
def test_triads_that_are_miscounted_fail(graph, friends, name):
    triangles = sum(map(len, friends.values())) // 3
    right = {**moved(graph), "triangles": triangles}
    for told in (right[name] - 1, right[name] + 1, 0):
        assert judged(Triangles, graph, [str(triangles).encode()], {**right, name: told}) is Outcome.FAIL


def test_triples_that_are_miscounted_fail(graph, friends):
    total, lines = sum(map(len, friends.values())), friend_lines(friends)
    literally, otherwise = moved(graph, literal_loops=True)["triples"], moved(graph)["triples"]
    assert literally == otherwise + 2 * len(graph.edges)
    for triples, options, outcome in (
        (otherwise, {}, Outcome.PASS), (otherwise + 1, {}, Outcome.FAIL), (literally, {}, Outcome.FAIL),
        (literally, {"literal-loops": "True"}, Outcome.PASS), (otherwise, {"literal-loops": "yes"}, Outcome.FAIL),
    ):  # fmt: skip
        told = {"mutual_friends": total, "triples": triples}
        assert judged(MutualFriends, graph, lines, told, **options) is outcome


def test_no_triangles_is_zero():
    path = Graph(edges=np.array([[1, 2], [2, 3]], dtype=np.int64), lone=np.zeros(0, dtype=np.int64))
    assert judged(Triangles, path, [b"0"], {"triangles": 0}) is Outcome.PASS


def test_components(graph, neighbours):
    lines = component_lines(graph, neighbours)
    parts = len(set(labels_of(graph, neighbours).values()))
    assert judged(Components, graph, lines, {"components": parts}) is Outcome.PASS
    assert judged(Components, graph, lines[::-1], {"components": parts}) is Outcome.PASS
    assert judged(Components, graph, lines, {"components": parts + 1}) is Outcome.FAIL
    assert judged(Components, graph, lines[1:], {"components": parts}) is Outcome.FAIL
    assert judged(Components, graph, [*lines, lines[0]], {"components": parts}) is Outcome.FAIL


def test_one_flipped_label_fails_the_components(graph, neighbours):
    lines = component_lines(graph, neighbours)
    parts = len(set(labels_of(graph, neighbours).values()))
    at = next(index for index, line in enumerate(lines) if line.startswith(b"101\t"))
    lines[at] = lines[at].replace(b"\t100\t", b"\t101\t")
    assert judged(Components, graph, lines, {"components": parts}) is Outcome.FAIL


def test_mutual_friends(graph, friends):
    total = sum(map(len, friends.values()))
    assert judged(MutualFriends, graph, friend_lines(friends), {"mutual_friends": total}) is Outcome.PASS
    assert judged(MutualFriends, graph, friend_lines(friends), {"mutual_friends": total + 1}) is Outcome.FAIL


@pytest.mark.parametrize("sample_edges", [1_000_000, 40])
def test_one_flipped_friend_fails_the_list(graph, friends, neighbours, monkeypatch, sample_edges):
    """With the same length only the comparison of lists can see it; a sample sees it if the edge is drawn."""
    monkeypatch.setattr(mutual_friends, "SAMPLE_EDGES", sample_edges)
    total = sum(map(len, friends.values()))
    drawn = mutual_friends._sample_rows(len(graph.edges))
    edge = next(edge for row, edge in enumerate(map(tuple, graph.edges.tolist())) if drawn[row] and edge in friends)
    stranger = next(v for v in neighbours if v not in friends[edge])
    wrong = {**friends, edge: sorted([*friends[edge][1:], stranger])}
    assert judged(MutualFriends, graph, friend_lines(wrong), {"mutual_friends": total}) is Outcome.FAIL


def test_a_missing_a_double_and_a_strange_edge_fail(graph, friends):
    total = sum(map(len, friends.values()))
    lines = friend_lines(friends)
    for wrong in (lines[1:], [*lines, lines[0]], [*lines, b"100\t102\t101"], [*lines, b"3\t999\t5"]):
        assert judged(MutualFriends, graph, wrong, {"mutual_friends": total}) is Outcome.FAIL


@pytest.mark.parametrize(
    ("value", "words"),
    [("true", True), ("True", True), ("YES", True), ("", True), ("false", False), ("False", False), ("No", False)],
)
def test_an_option_that_is_on_or_off_is_passed_on_however_it_is_written(value, words):
    workload = MutualFriends(WorkloadSpec(name="mutual-friends", options={"literal-loops": value}), "/base")
    assert workload.command_options() == (("--literal-loops",) if words else ())


def test_a_graph_without_edges(graph):
    empty = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 4], dtype=np.int64))
    assert judged(Triangles, empty, [b"0"], {"triangles": 0}) is Outcome.PASS
    assert judged(MutualFriends, empty, [], {"mutual_friends": 0}) is Outcome.PASS
    assert judged(Components, empty, [b"3\t3\t0\t", b"4\t4\t0\t"], {"components": 2}) is Outcome.PASS

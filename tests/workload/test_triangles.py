"""Proves that triangles, mutual friends and clustering coefficients of all variants are right, or fail."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from assay.model.dataset import Graph, GraphFacts
from assay.model.doubt import Outcome
from assay.model.engine import HADOOP_JOBS
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import variants_of
from assay.model.trial import WorkloadSpec
from assay.workload import mutual_friends
from assay.workload.clustering import ClusteringCoefficient
from assay.workload.mutual_friends import MutualFriends
from assay.workload.triangles import Triangles
from tests.workload.per_vertex import a_graph, neighbours_of, outcome
from tests.workload.stored import GivenGraph, name_of

COUNTS = ("vertices", "edges", "wedges", "triangles")
EMPTY = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 4], dtype=np.int64))
FACTS = GraphFacts(
    nodes=1000, edges=9000, wedges=900_000, wedges_by_id=800_000, wedges_by_degree=70_000, degree_squares=2_000_000
)


@pytest.fixture(scope="module")
def graph():
    return a_graph(seed=6, edges=300)


@pytest.fixture(scope="module")
def near(graph):
    return neighbours_of(graph)


@pytest.fixture(scope="module")
def at(near):
    """Brute force: the triangles at each vertex."""
    return {v: sum(b in near[a] for a, b in combinations(sorted(near[v]), 2)) for v in near}


@pytest.fixture(scope="module")
def told(graph, near, at):
    """What the jobs must count, by brute force."""
    after = {v: sum((len(near[w]), w) > (len(near[v]), v) for w in near[v]) for v in near}
    pairs = sum(len(n) * (len(n) - 1) // 2 for n in near.values())
    corners = sum(at.values())
    return {
        "vertices": len(near),
        "edges": len(graph.edges),
        "wedges": sum(count * (count - 1) // 2 for count in after.values()),
        "triangles": corners // 3,
        "mutual_friends": corners,
        "global_coefficient": corners / pairs,
        "average_coefficient": sum(coefficient(near, at, v) for v in near) / len(near),
    }


def coefficient(near, at, vertex):
    degree = len(near[vertex])
    return at[vertex] / (degree * (degree - 1) / 2) if degree > 1 else 0.0


def clustering_lines(near, at):
    return [f"{v}\t{len(near[v])}\t{at[v]}\t{coefficient(near, at, v)}".encode() for v in near]


def friend_lines(graph, near):
    shared = {(u, v): sorted(near[u] & near[v]) for u, v in graph.edges.tolist()}
    return [f"{u}\t{v}\t{' '.join(map(str, some))}".encode() for (u, v), some in shared.items() if some]


def moved(graph, literal_loops=False):
    """What `paper` must count on its way, by brute force: open triads by id, and triples."""
    degrees = Counter(graph.edges.ravel().tolist()).values()
    return {
        "edges": len(graph.edges),
        "wedges": sum(first == second for (first, _), (second, _) in combinations(graph.edges.tolist(), 2)),
        "triples": sum(degree * (degree if literal_loops else degree - 1) for degree in degrees),
    }


def judged(kind, variant, graph, lines, result, **options):
    return outcome(kind, graph, lines, result, variant=variant, **options)


@pytest.mark.parametrize("variant", ["tuned", "intersect"])
def test_the_counts_of_all_reduce_tasks_add_up(graph, told, variant):
    total = told["triangles"]
    right = [b"0", str(total - 3).encode(), b"3"]
    assert judged(Triangles, variant, graph, right, told) is Outcome.PASS
    for wrong in (right[1:2], [*right, b"1"], [b"1", *right[1:]], [str(total + 1).encode()]):
        assert judged(Triangles, variant, graph, wrong, told) is Outcome.FAIL
    for name in COUNTS:
        assert judged(Triangles, variant, graph, right, told | {name: told[name] + 1}) is Outcome.FAIL
    with pytest.raises(AssayError, match="should be numbers, one of each reduce task, and is"):
        judged(Triangles, variant, graph, [], told)
    with pytest.raises(AssayError, match="should be numbers"):
        judged(Triangles, variant, graph, [b"0\t7"], told)


def test_parts_of_a_graph_are_judged_by_triangles_and_edges(graph, told):
    total = told["triangles"]
    told = {"triangles": total, "edges": told["edges"], "parts": 1}
    right = [b"0", str(total).encode()]
    assert judged(Triangles, "partition", graph, right, told) is Outcome.PASS
    assert judged(Triangles, "partition", graph, [b"1", right[1]], told) is Outcome.FAIL
    assert judged(Triangles, "partition", graph, right, told | {"edges": 1}) is Outcome.FAIL


@pytest.mark.parametrize(
    ("variant", "edges", "complaint"),
    [
        ("tuned", "9", "edges-in-memory is an option of variant partition; leave it out of tuned"),
        ("partition", "0", "must be a whole number from 1 on"),
        ("partition", "536870913", "must be at most 536870912"),
    ],
)
def test_edges_in_memory_are_refused(variant, edges, complaint):
    options = {"edges-in-memory": edges}
    with pytest.raises(BadInputError, match=complaint):
        Triangles(WorkloadSpec(name="triangles", variant=variant, options=options), "/base")


def test_paper_leaves_one_number_only(graph, told):
    total, result = told["triangles"], moved(graph)
    right, wrong = (str(count).encode() for count in (total, total + 1))
    assert judged(Triangles, "paper", graph, [right], {**result, "triangles": total}) is Outcome.PASS
    assert judged(Triangles, "paper", graph, [wrong], {**result, "triangles": total + 1}) is Outcome.FAIL
    assert judged(Triangles, "paper", graph, [right], {**result, "triangles": total - 1}) is Outcome.FAIL
    for lines in ([], [b"0", right]):
        with pytest.raises(AssayError, match="should be one number"):
            judged(Triangles, "paper", graph, lines, {**result, "triangles": total})


@pytest.mark.parametrize("name", ["edges", "wedges"])
def test_triads_that_are_miscounted_fail(graph, told, name):
    right = {**moved(graph), "triangles": told["triangles"]}
    for count in (right[name] - 1, right[name] + 1, 0):
        lines = [str(told["triangles"]).encode()]
        assert judged(Triangles, "paper", graph, lines, {**right, name: count}) is Outcome.FAIL


def test_triples_that_are_miscounted_fail(graph, near, told):
    lines, result = friend_lines(graph, near), {**moved(graph), "mutual_friends": told["mutual_friends"]}
    literally, otherwise = moved(graph, literal_loops=True)["triples"], result["triples"]
    assert literally == otherwise + 2 * len(graph.edges)
    for triples, options, expected in (
        (otherwise, {}, Outcome.PASS), (otherwise + 1, {}, Outcome.FAIL), (literally, {}, Outcome.FAIL),
        (literally, {"literal-loops": "True"}, Outcome.PASS), (otherwise, {"literal-loops": "yes"}, Outcome.FAIL),
    ):  # fmt: skip
        counted = {**result, "triples": triples}
        assert judged(MutualFriends, "paper", graph, lines, counted, **options) is expected


def test_no_triangles_is_zero():
    path = Graph(edges=np.array([[1, 2], [2, 3]], dtype=np.int64), lone=np.zeros(0, dtype=np.int64))
    assert judged(Triangles, "paper", path, [b"0"], {**moved(path), "triangles": 0}) is Outcome.PASS


@pytest.mark.parametrize("variant", ["paper", "tuned", "intersect"])
def test_mutual_friends_of_each_variant(graph, near, told, variant):
    right = friend_lines(graph, near)
    result, names = (told, COUNTS) if variant != "paper" else (told | moved(graph), ())
    assert judged(MutualFriends, variant, graph, right, result) is Outcome.PASS
    for wrong in (right[1:], [*right, right[0]], [*right, b"100\t102\t101"], [*right, b"3\t999\t5"]):
        assert judged(MutualFriends, variant, graph, wrong, result) is Outcome.FAIL
    for name in (*names, "mutual_friends"):
        assert judged(MutualFriends, variant, graph, right, result | {name: result[name] + 1}) is Outcome.FAIL


@pytest.mark.parametrize("sample_edges", [1_000_000, 40])
def test_one_flipped_friend_fails_the_list(graph, near, told, monkeypatch, sample_edges):
    """With the same length only the comparison of lists can see it; a sample sees it if the edge is drawn."""
    monkeypatch.setattr(mutual_friends, "SAMPLE_EDGES", sample_edges)
    drawn = mutual_friends._sample_rows(len(graph.edges))
    u, v = next((u, v) for row, (u, v) in enumerate(graph.edges.tolist()) if drawn[row] and near[u] & near[v])
    friends = sorted(near[u] & near[v])
    stranger = next(vertex for vertex in near if vertex not in friends)
    flipped = f"{u}\t{v}\t{' '.join(map(str, sorted([*friends[1:], stranger])))}".encode()
    wrong = [flipped if line.startswith(f"{u}\t{v}\t".encode()) else line for line in friend_lines(graph, near)]
    assert judged(MutualFriends, "paper", graph, wrong, told | moved(graph)) is Outcome.FAIL


@pytest.mark.parametrize(
    ("value", "words"),
    [("true", True), ("True", True), ("YES", True), ("", True), ("false", False), ("False", False), ("No", False)],
)
def test_an_option_that_is_on_or_off_is_passed_on_however_it_is_written(value, words):
    workload = MutualFriends(WorkloadSpec(name="mutual-friends", options={"literal-loops": value}), "/base")
    assert workload.command_options() == (("--literal-loops",) if words else ())


def test_the_literal_loops_are_those_of_the_paper_variant():
    options = {"literal-loops": "true"}
    MutualFriends(WorkloadSpec(name="mutual-friends", options=options), "/base")
    with pytest.raises(BadInputError, match="literal-loops is an option of variant paper; leave it out of tuned"):
        MutualFriends(WorkloadSpec(name="mutual-friends", variant="tuned", options=options), "/base")


def clustered(graph, lines, result):
    return judged(ClusteringCoefficient, "intersect", graph, lines, result)


@pytest.mark.slow
def test_clustering_coefficients(graph, near, at, told):
    lines = clustering_lines(near, at)
    assert clustered(graph, lines, told) is Outcome.PASS
    assert clustered(graph, lines[::-1], told) is Outcome.PASS
    for wrong in (lines[1:], [*lines, lines[0]], [*lines, b"999\t0\t0\t0.0"], [*lines[1:], b"999\t0\t0\t0.0"]):
        assert clustered(graph, wrong, told) is Outcome.FAIL
    for name in (*COUNTS, "global_coefficient", "average_coefficient"):
        assert clustered(graph, lines, told | {name: told[name] + 1}) is Outcome.FAIL
        assert clustered(graph, lines, {key: told[key] for key in told if key != name}) is Outcome.FAIL


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("change", [lambda text: f"{float(text) + 1:g}", lambda _: "9"])
def test_one_changed_field_fails_the_clustering(graph, near, at, told, place, change):
    lines = clustering_lines(near, at)
    fields = lines[5].decode().split("\t")
    fields[place] = change(fields[place])
    assert clustered(graph, [*lines[:5], "\t".join(fields).encode(), *lines[6:]], told) is Outcome.FAIL


def test_a_coefficient_that_is_no_number_fails(graph, near, at, told):
    lines = clustering_lines(near, at)
    assert clustered(graph, [lines[0].rpartition(b"\t")[0] + b"\tNaN", *lines[1:]], told) is Outcome.FAIL


@pytest.mark.parametrize("line", [b"1\t2\t3", b"x\t1\t0\t0.0", b"1\t1\t0\tnone", b"9223372036854775808\t1\t0\t0.0"])
def test_a_line_of_another_form_cant_be_judged(graph, told, line):
    with pytest.raises(AssayError, match="not `vertex<TAB>degree<TAB>triangles<TAB>coefficient`"):
        clustered(graph, [line], told)


def test_a_graph_without_edges():
    none = {"vertices": 2, "edges": 0, "wedges": 0, "triangles": 0, "mutual_friends": 0}
    for variant in ("tuned", "intersect"):
        assert judged(Triangles, variant, EMPTY, [b"0", b"0"], none) is Outcome.PASS
        assert judged(MutualFriends, variant, EMPTY, [], none) is Outcome.PASS
    lines = [b"3\t0\t0\t0.0", b"4\t0\t0\t0.0"]
    assert clustered(EMPTY, lines, none | {"global_coefficient": 0.0, "average_coefficient": 0.0}) is Outcome.PASS


def test_unknown_options_are_refused():
    with pytest.raises(BadInputError, match="has no options; leave 'exact' out"):
        ClusteringCoefficient(
            WorkloadSpec(name="clustering-coefficient", variant="intersect", options={"exact": "1"}), "/base"
        )


@pytest.mark.parametrize("kind", [Triangles, MutualFriends])
def test_the_estimates_fall_from_paper_to_tuned_to_intersect(kind):
    needs = [
        kind(
            WorkloadSpec(name=name_of(kind), variant=name), "/b", GivenGraph(facts=FACTS, staged_bytes=100_000)
        ).estimate()
        for name, variant in variants_of(name_of(kind)).items()
        if variant.program == HADOOP_JOBS
    ]
    disks = [need.disk_bytes for need in needs]
    assert disks == sorted(disks, reverse=True)
    assert needs[1].seconds > needs[2].seconds


def test_an_estimate_without_wedges_by_degree_takes_all_of_them():
    unknown = FACTS.model_copy(update={"wedges_by_degree": None})

    def needs(kind, variant, facts):
        return (
            kind(WorkloadSpec(name=name_of(kind), variant=variant), "/b", GivenGraph(facts=facts)).estimate().disk_bytes
        )

    assert needs(Triangles, "tuned", unknown) > 10 * needs(Triangles, "tuned", FACTS) / 2
    clustering = ClusteringCoefficient, "intersect"
    assert needs(*clustering, unknown) > needs(*clustering, FACTS)

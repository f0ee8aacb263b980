"""Proves that breadth-first distances are judged by their graph, and that sources are checked before anything runs."""

import pytest

from assay.model.errors import AssayError, BadInputError
from assay.model.trial import WorkloadSpec
from assay.workload.breadth_first import BreadthFirstDistances
from tests.workload.per_vertex import FAR, a_graph, assert_judged_right, neighbours_of, outcome


def distances_of(neighbours, sources):
    hops = {vertex: 0 if vertex in sources else -1 for vertex in neighbours}
    queue = list(sources)
    for vertex in queue:
        for near in neighbours[vertex]:
            if hops[near] < 0:
                hops[near] = hops[vertex] + 1
                queue.append(near)
    return hops


def counted(neighbours, hops):
    reached = [vertex for vertex, distance in hops.items() if distance >= 0]
    return {
        "vertices": len(hops),
        "reached": len(reached),
        "levels": max(hops.values()),
        "iterations": max(hops.values()) + 1,
        "messages": sum(len(neighbours[vertex]) for vertex in reached),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("option", "sources"), [("5", [5]), (f"5+{FAR + 1} 100+5", [5, FAR + 1, 100]), ("0", [0])])
def test_every_corruption_is_found(option, sources):
    graph = a_graph()
    neighbours = neighbours_of(graph)
    hops = distances_of(neighbours, sources)
    assert_judged_right(BreadthFirstDistances, graph, hops, counted(neighbours, hops), from_=option)


def test_the_smallest_vertex_is_the_default():
    graph = a_graph()
    neighbours = neighbours_of(graph)
    hops = distances_of(neighbours, [min(neighbours)])
    assert_judged_right(BreadthFirstDistances, graph, hops, counted(neighbours, hops))


def test_a_source_that_is_not_in_the_graph_is_never_a_pass():
    with pytest.raises(AssayError, match="vertex 99999 is not in the graph"):
        outcome(BreadthFirstDistances, a_graph(), [], {}, from_="99999")


@pytest.mark.parametrize("text", ["", "x", "-1", "1,2", "1.5", "+3", str(1 << 63), "+".join(map(str, range(33)))])
def test_sources_that_are_no_ids_are_refused(text):
    with pytest.raises(BadInputError, match="1 to 32 vertex ids"):
        BreadthFirstDistances(WorkloadSpec(name="breadth-first-distances", options={"from": text}), "/base")


@pytest.mark.parametrize(
    ("options", "given"),
    [({}, ()), ({"from": "smallest"}, ()), ({"from": "9 3"}, ("--from=3+9",)), ({"from": "7"}, ("--from=7",))],
)
def test_the_command_gets_them_in_one_form(options, given):
    workload = BreadthFirstDistances(WorkloadSpec(name="breadth-first-distances", options=options), "/base")
    assert workload.command_options() == given

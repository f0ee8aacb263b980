"""Proves that the verifier of connected components judges the outputs of both variants."""

import numpy as np
import pytest

from assay.model.dataset import GraphFacts
from assay.model.doubt import Outcome
from assay.model.errors import AssayError, BadInputError
from assay.model.trial import WorkloadSpec
from assay.workload.components import Components
from tests.workload.per_vertex import a_graph, assert_judged_right, lines_of, neighbours_of, outcome
from tests.workload.stored import GivenGraph


def components_of(neighbours):
    smallest = {vertex: vertex for vertex in neighbours}
    for _ in neighbours:
        smallest = {v: min([smallest[v], *(smallest[n] for n in near)]) for v, near in neighbours.items()}
    return smallest


def test_every_corruption_is_found():
    graph = a_graph()
    values = components_of(neighbours_of(graph))
    assert_judged_right(Components, graph, values, {"components": len(set(values.values()))})


@pytest.mark.parametrize("line", [b"99999999999999999999\t0", b"0\t9223372036854775808\t0\t1 2"])
def test_numbers_beyond_63_bits_cant_be_read(line):
    with pytest.raises(AssayError, match="whole numbers of at most 63 bits"):
        outcome(Components, a_graph(), [line], {"components": 1})


def test_lines_without_neighbours_are_judged_alike():
    graph = a_graph()
    values = components_of(neighbours_of(graph))
    lines = [f"{vertex}\t{component}".encode() for vertex, component in values.items()]
    assert outcome(Components, graph, lines, {"components": len(set(values.values()))}) is Outcome.PASS


def test_blank_lines_are_left_out():
    graph = a_graph()
    values = components_of(neighbours_of(graph))
    lines = [b"", *(line for value in lines_of(values) for line in (value, b""))]
    assert outcome(Components, graph, lines, {"components": len(set(values.values()))}) is Outcome.PASS


def test_lines_of_another_form_are_an_error():
    for line in (b"1", b"1 2", b"x\t2", b"1\tx"):
        with pytest.raises(AssayError, match="not `vertex<TAB>value`"):
            outcome(Components, a_graph(), [line], {"components": 1})


@pytest.mark.parametrize("hops", [1, 2, 3, 50])
def test_some_iterations_are_judged_by_what_lies_within_as_many_hops(hops):
    graph = a_graph()
    neighbours = neighbours_of(graph)
    smallest = {vertex: vertex for vertex in neighbours}
    for _ in range(hops):
        smallest = {v: min([smallest[v], *(smallest[n] for n in near)]) for v, near in neighbours.items()}
    kept = sum(vertex == label for vertex, label in smallest.items())
    assert_judged_right(Components, graph, smallest, {"components": kept}, iterations=str(hops))


@pytest.mark.parametrize(
    ("variant", "options", "complaint"),
    [
        ("paper", {"from": "1"}, "has no option 'from'"),
        ("paper", {"iterations": "0"}, "iterations is '0', and must be a whole number from 1 on"),
        ("tuned", {"iterations": "2"}, "iterations is an option of variant paper; leave it out of tuned"),
        ("tuned", {"vertices-in-memory": "1"}, "vertices-in-memory is '1', and must be 0, or from 2 to 268435456"),
        ("tuned", {"vertices-in-memory": "-2"}, "must be a whole number from 0 on"),
        (
            "paper",
            {"vertices-in-memory": "9"},
            "vertices-in-memory is an option of variant tuned; leave it out of paper",
        ),
    ],
)
def test_options_are_refused(variant, options, complaint):
    with pytest.raises(BadInputError, match=complaint):
        Components(WorkloadSpec(name="components", variant=variant, options=options), "/base")


def test_each_variant_gets_the_options_that_it_has():
    def arguments(variant, **options):
        return Components(WorkloadSpec(name="components", variant=variant, options=options), "/base").command_options()

    assert arguments("paper", iterations="3") == ("--max-iterations=1000", "--iterations=3")
    assert arguments("tuned") == ("--max-iterations=1000", "--vertices-in-memory=1000000")
    assert arguments("tuned", **{"vertices-in-memory": "0"})[1] == "--vertices-in-memory=0"


def test_stars_need_less_than_lists():
    facts = GraphFacts(nodes=10_000, edges=200_000, wedges=1, wedges_by_id=1, degree_squares=1)
    paper, tuned = (
        Components(
            WorkloadSpec(name="components", variant=name), "/base", GivenGraph(facts=facts, staged_bytes=10**6)
        ).estimate()
        for name in ("paper", "tuned")
    )
    assert tuned.seconds < paper.seconds
    assert np.isclose(tuned.memory_bytes, paper.memory_bytes)

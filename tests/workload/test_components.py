"""Proves that the verifier of connected components judges the outputs of both variants."""

import numpy as np
import pytest

from assay.model.doubt import Outcome
from assay.model.errors import AssayError, BadInputError
from assay.model.graph import GraphFacts
from assay.model.trial import WorkloadSpec
from assay.workload.components import Components
from tests.workload.per_vertex import a_graph, assert_judged_right, neighbours_of, outcome


def components_of(neighbours):
    smallest = {vertex: vertex for vertex in neighbours}
    for _ in neighbours:
        smallest = {v: min([smallest[v], *(smallest[n] for n in near)]) for v, near in neighbours.items()}
    return smallest


def test_every_corruption_is_found():
    graph = a_graph()
    values = components_of(neighbours_of(graph))
    assert_judged_right(Components, graph, values, {"components": len(set(values.values()))})


def test_lines_without_neighbours_are_judged_alike():
    graph = a_graph()
    values = components_of(neighbours_of(graph))
    lines = [f"{vertex}\t{component}".encode() for vertex, component in values.items()]
    assert outcome(Components, graph, lines, {"components": len(set(values.values()))}) is Outcome.PASS


def test_lines_of_another_form_are_an_error():
    for line in (b"1", b"1 2", b"x\t2", b"1\tx"):
        with pytest.raises(AssayError, match="not `vertex, value`"):
            outcome(Components, a_graph(), [line], {"components": 1})


def test_it_has_no_options():
    with pytest.raises(BadInputError, match="has no options"):
        Components(WorkloadSpec(name="components", options={"from": "1"}), "/base")


def test_stars_need_less_than_lists():
    facts = GraphFacts(nodes=10_000, edges=200_000, wedges=1, wedges_by_id=1, degree_squares=1)
    paper, tuned = (
        Components(WorkloadSpec(name="components", variant=name), "/base").estimate(facts, 10**6)
        for name in ("paper", "tuned")
    )
    assert tuned.seconds < paper.seconds
    assert np.isclose(tuned.memory_bytes, paper.memory_bytes)

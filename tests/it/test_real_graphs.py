"""Proves that a published graph gives its published counts in all variants: CA-GrQc (SNAP)."""

import os
from pathlib import Path

import pytest

from tests.it.driving import IN_ONE_CONTAINER, ROOT

pytestmark = pytest.mark.it

EDGES, COMPONENTS, TRIANGLES = 14_484, 355, 48_260
EDGES_WITHOUT_MUTUAL_FRIENDS = 1_606
WEDGES, WEDGES_BY_ID, WEDGES_BY_DEGREE = 229_867, 76_333, 51_700
# One more than the largest distance from the smallest vertex of a component, by breadth-first search.
ITERATIONS = 14


@pytest.fixture
def graph():
    folder = Path(os.environ.get("ASSAY_TEST_GRAPHS", ROOT.parent / "shared" / "graphs"))
    file = folder / "CA-GrQc.txt.gz"
    if not file.is_file():
        pytest.skip(f"{file} is not there; set ASSAY_TEST_GRAPHS to a folder that has it")
    return file.resolve()


def results(place, graph, workload, variants):
    """Run a workload's variants on the graph; by variant what each told of its result, all of them verified."""
    workloads = ", ".join(f"{{name: {workload}, variant: {variant}}}" for variant in variants)
    records = place.verified(f"""
experiment: published
workloads: [{workloads}]
datasets:
  - file: {graph}
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
probes: none
""")
    assert sorted(record.trial.workload.variant for record in records) == sorted(variants)
    return {record.trial.workload.variant: record.outputs[0].summary for record in records}


@pytest.mark.long
def test_components(place, graph):
    found = results(place, graph, "components", ["paper", "tuned"])
    assert {told["components"] for told in found.values()} == {COMPONENTS}
    assert found["paper"]["iterations"] == ITERATIONS
    assert found["tuned"]["iterations"] == 1


@pytest.mark.long
def test_triangles(place, graph):
    found = results(place, graph, "triangles", ["paper", "tuned", "intersect", "partition"])
    assert {told["triangles"] for told in found.values()} == {TRIANGLES}
    assert found.pop("partition")["edges"] == EDGES
    wedges = {"paper": WEDGES_BY_ID, "tuned": WEDGES_BY_DEGREE, "intersect": WEDGES_BY_DEGREE}
    assert {variant: told["wedges"] for variant, told in found.items()} == wedges


@pytest.mark.long
def test_mutual_friends(place, graph):
    found = results(place, graph, "mutual-friends", ["paper", "tuned", "intersect"])
    for told in found.values():
        assert told["mutual_friends"] == 3 * TRIANGLES
        assert told["edges_with_mutual_friends"] == EDGES - EDGES_WITHOUT_MUTUAL_FRIENDS
    assert found["paper"]["triples"] == 2 * WEDGES
    for variant in ("tuned", "intersect"):
        assert (found[variant]["triangles"], found[variant]["wedges"]) == (TRIANGLES, WEDGES_BY_DEGREE)

"""Proves that a published graph gives its published counts: CA-GrQc (SNAP), components and triangles."""

import os
from pathlib import Path

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import IN_ONE_CONTAINER, ROOT

pytestmark = pytest.mark.it

COMPONENTS, TRIANGLES = 355, 48_260
# One more than the largest distance from the smallest vertex of a component, by breadth-first search.
ITERATIONS = 14


@pytest.fixture
def graph():
    folder = Path(os.environ.get("ASSAY_TEST_GRAPHS", ROOT.parent / "shared" / "graphs"))
    file = folder / "CA-GrQc.txt.gz"
    if not file.is_file():
        pytest.skip(f"{file} is not there; set ASSAY_TEST_GRAPHS to a folder that has it")
    return file.resolve()


def test_a_published_graph_gives_its_published_counts(place, graph):
    experiment = place.experiment(f"""
experiment: published
workloads: [components, triangles]
datasets:
  - file: {graph}
media:
  disk: {{kind: directory, path: {place.disk}}}
hadoop: {IN_ONE_CONTAINER}
cache: warm
""")
    place.assay("run", experiment, "--out", "run")
    found = {record.trial.workload.name: record for record in place.records("run")}
    assert {record.outcome for record in found.values()} == {Outcome.PASS}
    components = found["components"].outputs[0].summary
    assert (components["components"], components["iterations"]) == (COMPONENTS, ITERATIONS)
    assert found["triangles"].outputs[0].summary["triangles"] == TRIANGLES
    assert place.left_over() == []

"""Proves that a graph without edges is judged like any other: its right outputs pass, and any other fails."""

import numpy as np
import pytest

from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec, Graph
from assay.model.doubt import Outcome
from assay.model.progress import Silent
from assay.model.registry import WORKLOADS
from assay.model.trial import WorkloadSpec
from tests.workload.per_vertex import outcome

LONE = Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.array([3, 5, 9], dtype=np.int64))
RIGHT = {
    "triangles": ([b"0"], {"triangles": 0, "edges": 0, "wedges": 0}),
    "mutual-friends": ([], {"mutual_friends": 0, "triples": 0}),
    "components": ([b"3\t3\t0\t", b"5\t5\t0\t", b"9\t9\t0\t"], {"components": 3}),
}


def judged(name, lines, result):
    return outcome(WORKLOADS[name], LONE, lines, result)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_output_passes(name):
    assert judged(name, *RIGHT[name]) is Outcome.PASS


@pytest.mark.parametrize(
    ("name", "lines"), [("triangles", [b"1"]), ("mutual-friends", [b"3\t5\t9"]), ("components", [b"3\t3\t0\t"])]
)
def test_a_wrong_one_fails(name, lines):
    assert judged(name, lines, RIGHT[name][1]) is Outcome.FAIL


@pytest.mark.parametrize("content", ["3\n5\n9\n", "3 3\n5 5\n9 9\n"])
def test_it_can_be_planned(tmp_path, content):
    (tmp_path / "lone.txt").write_text(content)
    spec = DatasetSpec(name="lone", file=tmp_path / "lone.txt", format="edges")
    dataset = open_dataset(spec, tmp_path / "cache")
    dataset.prepare(Silent())
    for name in RIGHT:
        estimate = WORKLOADS[name](WorkloadSpec(name=name), "/base", dataset).estimate()
        assert estimate.seconds > 0

"""Proves that core numbers are judged by their graph."""

import pytest

from assay.model.errors import BadInputError
from assay.model.trial import WorkloadSpec
from assay.workload.k_core import KCore
from tests.workload.per_vertex import a_graph, assert_judged_right, neighbours_of


def cores_of(neighbours):
    """By definition: whoever has fewer than k neighbours left goes, again and again."""
    left, core = set(neighbours), {}
    for k in range(1, len(neighbours) + 1):
        while gone := [vertex for vertex in left if len(neighbours[vertex] & left) < k]:
            core.update(dict.fromkeys(gone, k - 1))
            left.difference_update(gone)
    return core


def test_every_corruption_is_found():
    graph = a_graph()
    values = cores_of(neighbours_of(graph))
    assert max(values.values()) > 2
    assert_judged_right(KCore, graph, values, {"vertices": len(values), "core_sum": sum(values.values())})


def test_it_has_no_options():
    with pytest.raises(BadInputError, match="has no options"):
        KCore(WorkloadSpec(name="k-core", options={"k": "3"}), "/base")

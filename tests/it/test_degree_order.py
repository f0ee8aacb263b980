"""Proves that the variants in degree order run verified on a cluster and move exactly the records that they promise.

Triangles by parts of the graph run beside them, with more parts than one.
"""

import numpy as np
import pytest

from tests.it.driving import IN_ONE_CONTAINER

pytestmark = [pytest.mark.it, pytest.mark.long]

TASK = "org.apache.hadoop.mapreduce.TaskCounter"
NAMES = [("triangles", "tuned"), ("clustering-coefficient", "intersect")]
PARTITION = "{name: triangles, variant: partition, options: {edges-in-memory: 400}}"


@pytest.fixture(scope="module")
def edges():
    """A random graph with a few vertices of high degree."""
    ends = np.random.default_rng(8).zipf(1.7, size=(4000, 2)) % 500
    return sorted({(min(u, v), max(u, v)) for u, v in ends.tolist() if u != v})


@pytest.fixture(scope="module")
def after(edges):
    """The neighbours that follow each vertex in the order of degrees."""
    degree = {vertex: sum(vertex in edge for edge in edges) for vertex in {end for edge in edges for end in edge}}
    found = {vertex: [] for vertex in degree}
    for edge in edges:
        low, high = sorted(edge, key=lambda vertex: (degree[vertex], vertex))
        found[low].append(high)
    return found


def test_degree_order(place, edges, after):
    (place.home / "graph.txt").write_text("".join(f"{u}\t{v}\n" for u, v in edges))
    workloads = ", ".join(f"{{name: {name}, variant: {variant}}}" for name, variant in NAMES)
    records = place.verified(f"""
experiment: degree-order
workloads: [{workloads}, {PARTITION}]
datasets:
  - file: graph.txt
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
""")
    found = {(record.trial.workload.name, record.trial.workload.variant): record for record in records}
    assert set(found) == {*NAMES, ("triangles", "partition")}
    parts = found.pop(("triangles", "partition")).outputs[0].summary
    assert (parts["edges"], parts["parts"] >= 3) == (len(edges), True)
    for record in found.values():
        assert record.dataset.wedges_by_degree == wedges(after) == record.outputs[0].summary["wedges"]
    check_tuned_triangles(found["triangles", "tuned"], edges, after)
    check_lists(found["clustering-coefficient", "intersect"], edges, after, "corners")


def wedges(after):
    return sum(len(higher) * (len(higher) - 1) // 2 for higher in after.values())


def counters(record, name):
    (job,) = (job for job in record.jobs if job.name == name)
    return job.counters[TASK]


def check_tuned_triangles(record, edges, after):
    """Each edge travels twice from both ends, then edges and open triads once."""
    pairs = len(edges) + wedges(after)
    assert [job.name for job in record.jobs] == ["degrees", "triads", "closing"]
    assert counters(record, "degrees")["MAP_OUTPUT_RECORDS"] == 2 * len(edges)
    assert counters(record, "triads")["MAP_OUTPUT_RECORDS"] == 2 * len(edges)
    assert counters(record, "triads")["REDUCE_OUTPUT_RECORDS"] == pairs
    assert counters(record, "closing")["MAP_INPUT_RECORDS"] == pairs
    assert counters(record, "closing")["MAP_OUTPUT_RECORDS"] == pairs


def check_lists(record, edges, after, name):
    """A list of each vertex, and one to each neighbour but the last."""
    sent = len(after) + sum(max(0, len(higher) - 1) for higher in after.values())
    assert counters(record, "directions")["MAP_OUTPUT_RECORDS"] == 2 * len(edges)
    assert counters(record, name)["MAP_OUTPUT_RECORDS"] == sent

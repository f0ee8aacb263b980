"""Proves that the iterative graph workloads run on a real cluster, verified, with the counts that their formulas say."""

import pytest

from tests.it.driving import IN_ONE_CONTAINER

pytestmark = [pytest.mark.it, pytest.mark.long]

FAR = 1 << 62
# A triangle with vertex 0 and a tail, an edge between far ids, and a vertex that only knows itself.
GRAPH = f"0 1\n0 2\n1 2\n2 3\n{FAR} {FAR + 1}\n9 9\n"
EDGES, VERTICES, LONE = 5, 7, 1


def test_each_is_verified_and_counts_what_it_should(place):
    (place.home / "graph.txt").write_text(GRAPH)
    every = place.verified(f"""
experiment: iterative
workloads:
  - {{name: components, variant: tuned}}
  - {{name: breadth-first-distances, options: {{from: 3+{FAR}}}}}
  - {{name: k-core}}
  - {{name: label-propagation, options: {{iterations: 2}}}}
datasets: {{file: graph.txt}}
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
probes: none
""")
    records = {record.trial.workload.name: record for record in every}
    assert len(records) == 4
    found = {name: record.outputs[0].summary for name, record in records.items()}
    assert found["components"]["components"] == 3
    # So small a graph is contracted at once: the map sends each vertex, with the smallest of its component.
    (only,) = records["components"].jobs
    sent = only.counters["org.assay.jobs.components.StarCounter"]["SENT"]
    assert (only.name, sent) == ("contraction 1", VERTICES)
    assert found["breadth-first-distances"]["reached"] == VERTICES - LONE
    assert found["breadth-first-distances"]["levels"] == 2
    assert found["k-core"]["core_sum"] == 3 * 2 + 3 * 1
    assert found["label-propagation"]["messages"] == 2 * 2 * EDGES

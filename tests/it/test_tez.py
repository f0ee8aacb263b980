"""Proves that Tez runs the same jobs beside MapReduce, as a level of `engine`, with outputs verified and tasks known."""

import gzip

import pytest

from tests.it.driving import IN_ONE_CONTAINER
from tests.it.handwritten import TEXT, counted

pytestmark = pytest.mark.it


WORKLOADS = {
    "k-means": "{name: k-means, options: {points: 2000, attributes: 4, iterations: 1}}",
    "triangles": "triangles\ndatasets: {file: graph.txt.gz}",
}


@pytest.mark.parametrize("name", ["k-means", pytest.param("triangles", marks=pytest.mark.long)])
def test_a_workload_runs_on_both_engines(place, name):
    (place.home / "graph.txt.gz").write_bytes(gzip.compress(TEXT))
    experiment = f"""
experiment: engines
workloads: {WORKLOADS[name]}
media: {place.media}
engine: [mapreduce, tez]
settings: small
hadoop: {IN_ONE_CONTAINER}
"""
    with place.watching_ports("namenode", "nodemanager", "MRAppMaster", "DAGAppMaster"):
        records = {record.trial.engine: record for record in place.verified(experiment)}
    assert set(records) == {"mapreduce", "tez"}
    usual, tez = records["mapreduce"], records["tez"]
    assert [job.name for job in tez.jobs] == [job.name for job in usual.jobs]
    assert [job.elapsed_s > 0 for job in tez.jobs] == [True] * len(tez.jobs)
    assert {stage.name for job in tez.jobs for stage in job.stages} == {"initialmap", "finalreduce"}
    # Where each task read and what it counted is known, whatever ran it.
    assert tez.outputs[0].summary == usual.outputs[0].summary
    assert "programs.tez.version" not in usual.facts
    assert tez.facts["programs.tez.version"] == "0.10.5"
    assert len(tez.facts["programs.tez.sha256"]) == 64
    if name == "triangles":
        assert tez.outputs[0].summary["triangles"] == counted(TEXT).triangles
    page = (place.home / "run" / "report.html").read_text()
    assert "initialmap" in page

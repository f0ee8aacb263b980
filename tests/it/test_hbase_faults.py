"""Proves on two real workers that a killed daemon of HBase is missed and costs no acknowledged line, or fails the trial."""

import os

import pytest

from assay.model.doubt import Outcome
from assay.platform.embedded import lacking_namespaces

pytestmark = [
    pytest.mark.it,
    pytest.mark.skipif(bool(lacking_namespaces()), reason="there can be no namespaces here"),
]


def struck(place, fault, size="2MB", more="", code=0):
    """The record of a trial with a fault; HBase misses a server after 6 s."""
    if os.geteuid():
        pytest.skip("only root may make namespaces")
    experiment = place.experiment(f"""
experiment: struck
workloads: {{name: word-frequency, options: {{size: {size}, files: 2}}}}
media:
  disk: {{kind: directory, path: {place.disk}}}
store: hbase
cluster: {{nodes: 2, memory_mb: 1536, vcores: 2}}
replication: 2
settings: small
cache: warm
hadoop: {{zookeeper.session.timeout: 6000{more}}}
fault: {fault}
""")
    place.assay("run", experiment, "--out", "run", code=code)
    (record,) = place.records("run")
    assert record.fault.struck_ms, record.error
    return record


def test_a_region_server_that_is_killed_in_mid_job_costs_no_line(place):
    record = struck(place, "{kill: regionserver, on: 2, at: map 25%}")
    assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
    fault = record.fault
    assert list(fault.processes) == ["regionserver"]
    assert all(line.startswith("regionserver: ") for line in fault.log)
    assert (fault.kept.taken > 0, fault.kept.missing, fault.redundancy) == (True, 0, None)
    assert place.left_over() == []

"""Proves on real workers that a killed daemon of HBase is missed and costs no acknowledged line, or fails the trial."""

import re

import pytest

from assay.model.doubt import Outcome
from assay.platform.embedded import lacking_namespaces
from tests.it.driving import AS_ROOT

pytestmark = [
    pytest.mark.it,
    AS_ROOT,
    pytest.mark.skipif(bool(lacking_namespaces()), reason="there can be no namespaces here"),
]


def run(place, nodes, size="2MB", hadoop="", hbase="", fault="none", code=0, store="hbase"):
    """The records of trials on several nodes, by their fault; HBase misses a server after 6 s."""
    experiment = place.experiment(f"""
experiment: nodes
workloads: {{name: word-frequency, options: {{size: {size}, files: 2}}}}
media: {place.media}
store: {store}
cluster: {{nodes: {nodes}, memory_mb: 1536, vcores: 2}}
replication: 2
settings: small
cache: warm
hadoop: {{{hadoop}}}
hbase: {{zookeeper.session.timeout: 6000{hbase}}}
fault: {fault}
""")
    place.assay("run", experiment, "--out", "run", code=code)
    records = place.records("run")
    assert place.left_over() == []
    return records


def struck(record, role, outcome=Outcome.PASS):
    """What the fault of a trial did, which killed one daemon and lost no line of the input."""
    assert record.outcome is outcome, (record.error, record.verdicts)
    fault = record.fault
    assert list(fault.processes) == [role]
    assert fault.log
    assert all(line.startswith(f"{role}: ") for line in fault.log)
    assert fault.kept.taken > 0
    assert fault.kept.missing == 0
    return fault


def test_a_region_server_that_is_killed_in_mid_job_costs_no_line(place):
    """Its input is in a table and its output in files."""
    (record,) = run(place, 2, fault="{kill: regionserver, on: 2, at: map 25%}", store="hbase-to-hdfs")
    fault = struck(record, "regionserver")
    assert (fault.job, fault.redundancy) == ("count", None)


@pytest.mark.long
def test_tables_are_spread_over_three_workers(place):
    (record,) = run(place, 3)
    assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
    staged = {
        amount.subject: amount.value
        for amount in record.amounts
        if (amount.probe, amount.part, amount.series) == ("network", "staging", "hbase_rpc_to_server_bytes")
    }
    to = [staged[f"master > worker-{number}"] for number in (1, 2, 3)]
    # Of four regions each server has one or two.
    assert min(to) > 0.15 * sum(to)


@pytest.mark.long
def test_a_region_server_that_is_killed_in_mid_load_costs_no_line(place):
    (record,) = run(place, 2, size="4MB", fault="{kill: regionserver, on: 2, at: staging 50%}")
    fault = struck(record, "regionserver")
    assert (fault.job, list(fault.progress)) == ("", ["staging"])


@pytest.mark.long
@pytest.mark.parametrize("at", ["map 25%", "staging 50%"])
def test_a_datanode_that_is_killed_takes_copies_with_it_and_no_line(place, at):
    (record,) = run(place, 2, fault=f"{{kill: datanode, on: 2, at: {at}}}")
    fault = struck(record, "datanode")
    assert fault.redundancy.copies_lost > 0
    assert fault.redundancy.missing_blocks == 0


@pytest.mark.long
@pytest.mark.parametrize(("sync", "outcome"), [("hflush", Outcome.PASS), ("skipped", Outcome.FAIL)])
def test_lines_of_the_output_are_lost_with_a_server_where_its_log_was_skipped_alone(place, sync, outcome):
    """Two of four reduces, one after the other, have put their lines then, none of which is in a file yet."""
    properties = {
        "hadoop": "mapreduce.job.reduces: 4, mapreduce.job.running.reduce.limit: 1",
        "hbase": f", hbase.assay.sync: {sync}",
    }
    fault = "{kill: regionserver, on: 2, at: reduce 60%}"
    (record,) = run(place, 2, **properties, fault=fault, code=int(outcome is Outcome.FAIL))
    struck(record, "regionserver", outcome)
    wrong = [verdict.detail for verdict in record.verdicts if verdict.outcome is Outcome.FAIL]
    assert any(re.search(r"[1-9]\d* missing", detail) for detail in wrong) == (outcome is Outcome.FAIL), wrong

"""Proves that a lookup gets the asked documents alone, and that jobs read and write documents of a real FerretDB."""

import pytest

from assay.model.doubt import Outcome
from assay.model.registry import STORES
from assay.store.documents import DocumentTables
from tests.it.driving import AS_ROOT
from tests.it.forgetful import Forgetful

pytestmark = [pytest.mark.it, pytest.mark.long]
KIND = STORES["documents"]

EXPERIMENT = """
experiment: documents
workloads: [{workload}]
media: {{disk: {{kind: directory, path: {disk}}}, other: {{kind: directory, path: {other}}}}}
placement: {{input: disk, intermediate: disk, output: other}}
store: documents
settings: small
cluster: {{nodes: {nodes}}}
hadoop: {{{hadoop}}}
documents: {{{documents}}}
"""


def experiment(place, workload, hadoop="", documents="", nodes=1):
    other = place.home / "other"
    other.mkdir(exist_ok=True)
    return EXPERIMENT.format(
        workload=workload, disk=place.disk, other=other, hadoop=hadoop, documents=documents, nodes=nodes
    )


def run(place, workload, **properties):
    """The one record of a workload; its output is right, and input and output lie on a medium each."""
    (record,) = place.verified(experiment(place, workload, **properties))
    landed = {(landing.role, landing.when): landing for landing in record.landed}
    assert landed["input", "staged"].shares == {"disk": 1.0}
    assert landed["output", "run"].shares == {"other": 1.0}
    assert "not-mongodb" in [doubt.kind for doubt in record.doubts]
    return record


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("share: 10, order: random", 2000), ("share: 10, by: ranges, range: 500", 2000), ("share: 1, by: ranges, range: 50", 200)],
)  # fmt: skip
def test_a_lookup_gets_the_asked_rows_alone(place, asked, rows):
    workload = f"{{name: lookup, options: {{rows: 20000, {asked}}}}}"
    record = run(place, workload, documents="documents.assay.tasks: 3")
    assert record.outputs[0].summary["lines_read"] == record.outputs[0].summary["rows_found"] == rows
    assert record.jobs[0].stages[0].tasks == min(3, rows // 100)


def test_a_job_reads_a_table_in_whole_collections_of_about_a_block(place):
    record = run(place, "{name: sort-lines, options: {size: 5MB, files: 2}}", hadoop="dfs.blocksize: 1m")
    assert record.jobs[0].stages[0].tasks > 1


@AS_ROOT
def test_servers_of_two_nodes_share_a_table_evenly(place):
    record = run(place, "{name: word-frequency, options: {size: 4MB, files: 2}}", nodes=2)
    worked = {
        amount.node: amount.value
        for amount in record.amounts
        if (amount.part, amount.probe, amount.subject, amount.series) == ("run", "processes", "documents", "user_s")
    }
    assert worked.keys() == {"worker-1", "worker-2"}
    assert min(worked.values()) > max(worked.values()) / 3


class ForgetfulTables(Forgetful, DocumentTables):
    """See `tests.it.forgetful`."""


def test_rows_that_are_lost_behind_the_servers_back_fail_the_trial_twice(place, monkeypatch):
    monkeypatch.setitem(STORES._read(), "documents", KIND._replace(open=ForgetfulTables.on))
    workload = "{name: word-frequency, options: {size: 1MB, files: 2}}"
    record = place.run_in_this_process(place.experiment(experiment(place, workload)), "forgotten")
    assert record.outcome is Outcome.FAIL, record.error
    details = " ".join(verdict.detail for verdict in record.verdicts)
    assert "lines were put there" in details
    assert "1 read, " in details

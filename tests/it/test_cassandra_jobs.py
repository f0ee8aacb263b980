"""Proves that a lookup gets the asked rows of a table in Cassandra alone, and that jobs read and write such tables."""

import pytest

from assay.model.doubt import Outcome
from assay.model.registry import STORES
from assay.store.cassandra import CassandraTables
from tests.it.forgetful import Forgetful

pytestmark = pytest.mark.it
KIND = STORES["cassandra"]

EXPERIMENT = """
experiment: cassandra
workloads: [{workload}]
media: {media}
store: cassandra
settings: small
hadoop: {{{hadoop}}}
cassandra: {{{cassandra}}}
"""


def run(place, workload, hadoop="", cassandra=""):
    """The one record of a workload; its output is right, and all roles have bytes where they should."""
    text = EXPERIMENT.format(workload=workload, media=place.media, hadoop=hadoop, cassandra=cassandra)
    (record,) = place.verified(text)
    landed = {(landing.role, landing.when): landing.bytes for landing in record.landed}
    assert landed["input", "staged"] > 0
    assert landed["output", "run"] > 0
    assert landed["log", "run"] > 0
    return record


@pytest.mark.parametrize(
    ("asked", "hadoop"),
    [
        pytest.param("order: random", "mapreduce.job.ubertask.enable: true", id="keys-in-one-container"),
        pytest.param("by: ranges, range: 500", "", id="ranges", marks=pytest.mark.long),
    ],
)
def test_a_lookup_gets_the_asked_rows_alone(place, asked, hadoop):
    workload = f"{{name: lookup, options: {{rows: 20000, share: 10, {asked}}}}}"
    record = run(place, workload, hadoop, cassandra="cassandra.assay.ranges: 3")
    assert record.outputs[0].summary["lines_read"] == record.outputs[0].summary["rows_found"] == 2000
    assert record.jobs[0].stages[0].tasks == 3


@pytest.mark.long
def test_a_job_reads_a_table_in_equal_ranges_of_about_a_block(place):
    record = run(place, "{name: sort-lines, options: {size: 5MB, files: 2}}", hadoop="dfs.blocksize: 1m")
    assert record.jobs[0].stages[0].tasks == 5


class ForgetfulTables(Forgetful, CassandraTables):
    """See `tests.it.forgetful`."""


@pytest.mark.long
def test_rows_that_are_lost_behind_cassandras_back_fail_the_trial_twice(place, monkeypatch):
    monkeypatch.setitem(STORES._read(), "cassandra", KIND._replace(open=ForgetfulTables.on))
    workload = "{name: word-frequency, options: {size: 1MB, files: 2}}"
    experiment = place.experiment(EXPERIMENT.format(workload=workload, media=place.media, hadoop="", cassandra=""))
    record = place.run_in_this_process(experiment, "forgotten")
    assert record.outcome is Outcome.FAIL, record.error
    details = " ".join(verdict.detail for verdict in record.verdicts)
    assert "lines were put there" in details
    assert "1 read, " in details

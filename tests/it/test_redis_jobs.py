"""Proves that jobs read and write tables of a real Redis, that a lookup gets the asked lines alone, and what is refused."""

import pytest

from assay.model.doubt import Outcome
from assay.model.registry import STORES
from assay.store.redis import RedisTables
from tests.it.driving import AS_ROOT, assay_command
from tests.it.forgetful import Forgetful

pytestmark = [pytest.mark.it, pytest.mark.long]
KIND = STORES["redis"]

EXPERIMENT = """
experiment: redis
workloads: [{workload}]
media: {{disk: {{kind: directory, path: {disk}}}, other: {{kind: directory, path: {other}}}}}
placement: {{input: disk, intermediate: disk, output: disk, log: other}}
store: redis
settings: small
cluster: {{nodes: {nodes}}}
hadoop: {{{hadoop}}}
redis: {{{redis}}}
"""


def experiment(place, workload, hadoop="", redis="", nodes=1):
    other = place.home / "other"
    other.mkdir(exist_ok=True)
    return EXPERIMENT.format(workload=workload, disk=place.disk, other=other, hadoop=hadoop, redis=redis, nodes=nodes)


def run(place, workload, **properties):
    """The one record of a workload; its output is right, and all that lies on a medium is the log."""
    (record,) = place.verified(experiment(place, workload, **properties))
    landed = {(landing.role, landing.when): landing for landing in record.landed}
    assert landed["log", "staged"].shares == {"other": 1.0}
    assert landed["input", "staged"].bytes == landed["output", "run"].bytes == 0
    assert landed["log", "staged"].bytes > record.staged.bytes
    assert "data-in-memory" in [doubt.kind for doubt in record.doubts]
    assert record.facts["programs.redis.version"] != "unknown"
    return record


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("share: 10, order: random", 2000), ("share: 10, by: ranges, range: 500", 2000), ("share: 1, by: ranges, range: 50", 200)],
)  # fmt: skip
def test_a_lookup_gets_the_asked_rows_alone(place, asked, rows):
    record = run(place, f"{{name: lookup, options: {{rows: 20000, {asked}}}}}", redis="redis.assay.tasks: 3")
    assert record.outputs[0].summary["lines_read"] == record.outputs[0].summary["rows_found"] == rows
    assert record.jobs[0].stages[0].tasks == min(3, rows // 100)


def test_words_are_counted_of_a_table_that_is_cut_as_a_file_would_be(place):
    workload = "{name: word-frequency, options: {size: 4MB, files: 2}}"
    record = run(place, workload, hadoop="dfs.blocksize: 1m", redis="redis.assay.appendfsync: always")
    assert record.jobs[0].stages[0].tasks == 4
    assert record.staged.promise.words == "1 copy on drives"


@AS_ROOT
def test_servers_of_two_nodes_share_a_table_evenly(place):
    record = run(place, "{name: lookup, options: {rows: 100000, share: 50}}", nodes=2)
    worked = {
        amount.node: amount.value
        for amount in record.amounts
        if (amount.part, amount.probe, amount.subject, amount.series) == ("staging", "processes", "redis", "user_s")
    }
    assert worked.keys() == {"worker-1", "worker-2"}
    assert min(worked.values()) > max(worked.values()) / 3


class ForgetfulTables(Forgetful, RedisTables):
    """See `tests.it.forgetful`."""


def test_rows_that_are_lost_behind_the_servers_back_fail_the_trial_twice(place, monkeypatch):
    monkeypatch.setitem(STORES._read(), "redis", KIND._replace(open=ForgetfulTables.on))
    workload = "{name: word-frequency, options: {size: 1MB, files: 2}}"
    record = place.run_in_this_process(place.experiment(experiment(place, workload)), "forgotten")
    assert record.outcome is Outcome.FAIL, record.error
    details = " ".join(verdict.detail for verdict in record.verdicts)
    assert "lines were put there" in details
    assert "1 read, " in details


def test_data_that_do_not_fit_into_memory_are_refused_and_a_server_takes_no_more_of_them(place):
    """Before anything starts by what they are likely to need, where that is looked at, and by the server in any case."""
    text = experiment(place, "{name: lookup, options: {rows: 200000}}", redis="redis.assay.maxmemory-mb: 16")
    refused = place.command(*assay_command("run", place.experiment(text), "--dry-run"), code=2)
    assert "redis keeps all data in memory and has 16.0 MiB for them" in refused.stderr
    record = place.run_in_this_process("experiment.yaml", "too-much")
    assert "OOM command not allowed when used memory > 'maxmemory'" in record.error

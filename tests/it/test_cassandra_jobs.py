"""Proves that a lookup gets the asked rows of a table in Cassandra alone, and that jobs read and write such tables."""

import pytest

pytestmark = [pytest.mark.it, pytest.mark.long]

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
    landed = {(one.role, one.when): one.bytes for one in record.landed}
    assert landed["input", "staged"] > 0
    assert landed["output", "run"] > 0
    assert landed["log", "run"] > 0
    return record


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("share: 10, order: random", 2000), ("share: 10, by: ranges, range: 500", 2000)],
)
def test_a_lookup_gets_the_asked_rows_alone(place, asked, rows):
    workload = f"{{name: lookup, options: {{rows: 20000, {asked}}}}}"
    record = run(place, workload, cassandra="cassandra.assay.ranges: 3")
    assert record.outputs[0].summary["lines_read"] == record.outputs[0].summary["rows_found"] == rows
    assert record.jobs[0].stages[0].tasks == 3


def test_a_job_reads_a_table_in_equal_ranges_of_about_a_block(place):
    record = run(place, "{name: sort-lines, options: {size: 5MB, files: 2}}", hadoop="dfs.blocksize: 1m")
    assert record.jobs[0].stages[0].tasks == 5

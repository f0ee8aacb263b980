"""Proves that jobs run on tables of HBase as on files of HDFS, with outputs verified and bytes accounted for."""

import gzip

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Promise, Status
from assay.stats.staging import staging_use
from tests.it.handwritten import TEXT, counted

pytestmark = pytest.mark.it


def judged(record):
    assert record.status is Status.FINISHED, record.error
    return {verdict.outcome for verdict in record.verdicts}


def check_staging(record, load):
    """Bytes of input are those of its lines, unless a job made it; servers log and flush all that is put."""
    use = staging_use(record)
    assert use.promise == record.staged.promise == Promise(copies=1, reach="memory")
    if record.staging_jobs:
        assert (use.input_bytes, use.space_amplification) == (None, None)
    else:
        assert use.space_amplification > 1
    if load == "puts":
        assert min(use.kinds["written to the log"], use.kinds["flushed"]) > (use.input_bytes or 0)
    assert not {"daemon-counters-late", "landing-not-seen"} & {doubt.kind for doubt in record.doubts}


def run_on_tables(place, workloads, load, read, datasets=""):
    experiment = place.experiment(f"""
experiment: tables
workloads: {workloads}
{datasets}
media: {place.media}
store: hbase
settings: small
hbase: {{hbase.assay.load: {load}, hbase.assay.read: {read}}}
""")
    place.assay("run", experiment, "--out", load)
    records = place.records(load)
    for record in records:
        assert judged(record) == {Outcome.PASS}, record.verdicts
        staged = {landed.when: landed for landed in record.landed if landed.role == "input"}["staged"]
        assert staged.bytes == staged.of_bytes > 0
        (_, log) = [landed for landed in record.landed if landed.role == "log"]
        assert log.bytes > 0
        check_staging(record, load)
        assert record.facts["programs.hbase.version"] == "2.6.4-hadoop3"
    return {record.trial.workload.name: record for record in records}


WORDS = "{name: word-frequency, options: {size: 1MB, files: 2}}"
POINTS = "{name: k-means, options: {points: 3000, attributes: 4, iterations: 1, assign: true}}"


@pytest.mark.parametrize(
    ("workload", "load", "read"),
    [
        pytest.param(WORDS, "bulk", "snapshot", id="words-bulk-snapshot"),
        pytest.param(WORDS, "puts", "scan", id="words-puts-scan", marks=pytest.mark.long),
        pytest.param(POINTS, "bulk", "snapshot", id="points-bulk-snapshot", marks=pytest.mark.long),
    ],
)
def test_tables_are_loaded_and_read_in_both_ways(place, workload, load, read):
    """By puts and scans, and in files and from snapshots; test_hbase_faults puts and scans, too."""
    with place.watching_ports("zookeeper", "hmaster", "regionserver", "MRAppMaster"):
        run_on_tables(place, f"[{workload}]", load, read)
    assert place.left_over() == []


@pytest.mark.long
def test_a_graph_in_a_table_has_neither_header_nor_byte_order_mark(place):
    (place.home / "graph.txt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfknows known\n" + TEXT))
    records = run_on_tables(place, "[triangles]", "puts", "scan", "datasets: {file: graph.txt.gz}")
    assert records["triangles"].outputs[0].summary["triangles"] == counted(TEXT).triangles

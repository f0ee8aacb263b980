"""Proves on a real TeraSort that captured packets tell the same as the job's own counters, part by part."""

import os
import shutil

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.model.doubt import Outcome

pytestmark = [pytest.mark.it, pytest.mark.alone, pytest.mark.long]

EXPERIMENT = """
experiment: captured
workloads: {name: terasort, options: {size: 100MB}}
media: {disk: directory}
cache: warm
settings: small
probes: capture
hadoop: {mapreduce.job.reduces: 2, dfs.replication: 1}
"""
MB = 1_000_000
SAMPLE_BYTES = 100_000 * 100
"""What the client reads to part the keys, which no task counts (TeraInputFormat.writePartitionFile, its default)."""


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    from tests.it.driving import a_place

    if not (shutil.which("tshark") and shutil.which("dumpcap")) or os.geteuid():
        pytest.skip("needs tshark (apt-get install tshark), and root")
    with a_place(tmp_path_factory.mktemp("captured")) as place:
        place.assay("run", place.experiment(EXPERIMENT), "--out", "run")
        (found,) = place.records("run")
        assert found.outcome is Outcome.PASS, found.error
        assert not place.processes("dumpcap")
        assert not place.processes("tshark")
        yield found


def captured(record, series, part="run"):
    """The sum over all pairs."""
    return sum(
        one.value for one in record.amounts if (one.probe, one.series, one.part) == ("network", series, part)
    )  # fmt: skip


def test_shuffled_bytes_agree_with_the_counter(record):
    shuffled = captured(record, "shuffle_from_server_bytes")
    assert shuffled > 100 * MB
    assert shuffled == pytest.approx(record.totals.counters[TASK_COUNTERS]["REDUCE_SHUFFLE_BYTES"], rel=0.05)


def test_hdfs_data_agree_with_the_counters_of_each_part(record):
    counters = record.totals.counters[FILE_SYSTEM_COUNTERS]
    # Checksums of 4 bytes come with each 512.
    assert captured(record, "hdfs_data_to_server_bytes") == pytest.approx(
        counters["HDFS_BYTES_WRITTEN"] * (1 + 4 / 512), rel=0.05
    )
    read = counters["HDFS_BYTES_READ"] + SAMPLE_BYTES
    assert captured(record, "hdfs_data_from_server_bytes") == pytest.approx(read * (1 + 4 / 512), rel=0.05)
    assert captured(record, "shuffle_from_server_bytes", "staging") == 0
    assert captured(record, "hdfs_data_to_server_bytes", "staging") > 100 * MB


def test_subjects_are_those_of_the_packet_filter(record):
    subjects = {one.subject for one in record.amounts if one.probe == "network" and "shuffle" in one.series}
    assert {subject.partition(": ")[2] for subject in subjects} == {"clients > nodemanager", "nodemanager > clients"}


def test_no_packet_was_lost(record):
    assert not [doubt for doubt in record.doubts if doubt.kind.startswith(("network", "probe"))]


def test_what_the_programs_took_is_in_the_probes_own_cost(record):
    (busy_s,) = (
        one.value for one in record.amounts
        if (one.probe, one.subject, one.series, one.part) == ("own-cost", "probes", "busy_s", "run")
    )  # fmt: skip
    assert 0 < busy_s < 60

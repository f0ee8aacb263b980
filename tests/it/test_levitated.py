"""Proves that merged streams give the same outputs, leave reducers' drives alone, and go on when a node is lost."""

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import AS_ROOT

pytestmark = pytest.mark.it

COUNTERS = "AssayLevitated"
OURS = {"shuffled-in-the-stock-way", "streams-reopened"}
EXPERIMENT = """
experiment: levitated
workloads: {workloads}
media: {media}
engine: [mapreduce, mapreduce-levitated]
settings: small
hadoop: {{dfs.blocksize: 1m, mapreduce.job.reduces: 2, mapreduce.reduce.shuffle.memory.limit.percent: 0.001{more}}}
"""
TERASORT = "{name: terasort, options: {size: 20MB}}"


def by_engine(place, workloads=TERASORT, more=""):
    text = EXPERIMENT.format(workloads=workloads, media=place.media, more=more)
    return {record.trial.engine: record for record in place.verified(text)}


def test_streams_of_all_maps_are_merged_and_reducers_write_nothing(place):
    records = by_engine(place)
    (job,) = records["mapreduce-levitated"].jobs
    (usual,) = records["mapreduce"].jobs
    assert job.counters[COUNTERS]["STREAMS"] == 2 * 20
    assert job.counters[COUNTERS]["REOPENED"] == 0
    assert COUNTERS not in usual.counters
    tasks, files = (f"org.apache.hadoop.mapreduce.{group}Counter" for group in ("Task", "FileSystem"))
    for name in ("REDUCE_SHUFFLE_BYTES", "REDUCE_INPUT_RECORDS", "SHUFFLED_MAPS", "REDUCE_INPUT_GROUPS"):
        assert job.counters[tasks][name] == usual.counters[tasks][name], name
    # Maps spill each record once; stock reducers write what they fetch, since nothing fits into their memory.
    assert job.counters[tasks]["SPILLED_RECORDS"] == job.counters[tasks]["MAP_OUTPUT_RECORDS"]
    assert job.counters[COUNTERS]["BYTES"] == job.counters[tasks]["REDUCE_SHUFFLE_BYTES"]
    written = {engine: record.jobs[0].counters[files]["FILE_BYTES_WRITTEN"] for engine, record in records.items()}
    assert written["mapreduce"] - written["mapreduce-levitated"] > 0.9 * job.counters[tasks]["REDUCE_SHUFFLE_BYTES"]
    assert not OURS & {doubt.kind for doubt in records["mapreduce-levitated"].doubts}


@pytest.mark.long
@pytest.mark.parametrize(
    "workload",
    ["{name: word-count, options: {size: 8MB, files: 4}}", "{name: sort-lines, options: {size: 8MB, files: 4}}"],
)
def test_combined_and_compressed_outputs_are_merged_too(place, workload):
    records = by_engine(place, workload, ", mapreduce.map.output.compress: true")
    assert records["mapreduce-levitated"].jobs[0].counters[COUNTERS]["STREAMS"]


@pytest.mark.long
def test_more_maps_than_streams_are_shuffled_in_the_stock_way_with_a_doubt(place):
    record = by_engine(place, more=", assay.levitated.streams: 19")["mapreduce-levitated"]
    assert record.jobs[0].counters[COUNTERS]["STOCK_TOO_MANY_MAPS"] == 2
    assert OURS & {doubt.kind for doubt in record.doubts} == {"shuffled-in-the-stock-way"}


@pytest.mark.long
@AS_ROOT
def test_many_streams_fit_into_a_small_page_cache(place):
    """A node's own network has sockets that leave room: with the kernel's own, 60 streams of 2 MB would stand still."""
    text = """
experiment: many
workloads: {name: terasort, options: {size: 120MB}}
media: {hdd: {profile: wd10ezex, path: /dev/shm, size: 2GiB}}
cluster: {nodes: 1, network: ten-gigabit, memory_mb: 2048, vcores: 2}
page_cache: 64MiB
engine: mapreduce-levitated
settings: small
hadoop: {dfs.blocksize: 4m, mapreduce.job.reduces: 2, assay.levitated.streams: 128}
"""
    (record,) = place.verified(text)
    assert record.jobs[0].counters[COUNTERS]["STREAMS"] == 2 * 29


@pytest.mark.long
@pytest.mark.alone
@AS_ROOT
def test_streams_of_a_lost_node_go_on_from_maps_that_ran_again(place):
    text = """
experiment: lost
workloads: {name: terasort, options: {size: 120MB}, hadoop: {mapreduce.terasort.output.replication: 2}}
media: {hdd: {profile: wd10ezex, path: /dev/shm, size: 2GiB}}
cluster: {nodes: 3, network: gigabit, memory_mb: 3072, vcores: 4}
replication: 2
engine: mapreduce-levitated
settings: small
hadoop: {dfs.blocksize: 8m, mapreduce.job.reduces: 2, mapreduce.reduce.shuffle.connect.timeout: 5000}
fault: {kill: nodemanager, on: 2, at: reduce 70%}
repetitions: 1
"""
    place.assay("run", place.experiment(text), "--out", "run")
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
    assert record.fault.struck_ms
    assert record.jobs[0].counters[COUNTERS]["REOPENED"]
    assert "streams-reopened" in {doubt.kind for doubt in record.doubts}

"""Proves that Hadoop's own programs run as workloads, verified, with their figures, within a bound on memory."""

import os

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.record import Status
from assay.platform.limits import check_limits
from tests.it.driving import IN_ONE_CONTAINER, assay_command

pytestmark = pytest.mark.it

GIB = 1 << 30
MIB = 1 << 20
TASKS = "org.apache.hadoop.mapreduce.TaskCounter"


def bound(place):
    """`memory` and `cpus` where this machine and user can have them."""
    cpus = min(2, len(os.sched_getaffinity(0)))
    try:
        check_limits(EmbeddedSpec(limit_memory_bytes=3 * GIB, limit_cpus=cpus), place.home / "state")
    except BadInputError:
        return ""
    return f"memory: 3GiB\ncpus: {cpus}\n"


@pytest.mark.long
@pytest.mark.parametrize("variant", ["read", "write"])
def test_testdfsio(place, variant):
    limits = bound(place)
    (record,) = place.verified(f"""
experiment: own
workloads: {{name: testdfsio, variant: {variant}, options: {{files: 2, file_size: 24MiB}}}}
media: {place.media}
{limits}""")
    assert record.dataset is None
    check_limits_of(record, limits)
    {"read": check_read, "write": check_write}[variant](record)


def check_limits_of(record, limits):
    if not limits:
        return
    assert record.limits.memory_limit_bytes == 3 * GIB
    assert GIB / 2 < record.limits.memory_peak_bytes <= 3 * GIB
    assert record.limits.out_of_memory_kills == 0
    assert record.settings["yarn.nodemanager.resource.memory-mb"] == "3072"


def check_write(record):
    (output,) = record.outputs
    assert output.bytes >= 48 * MIB
    assert output.summary["files"] == 2
    assert output.summary["throughput_mib_s"] > 0
    assert [job.name for job in record.jobs] == ["write"]
    assert record.jobs[0].stages[0].tasks == 2
    assert record.staging_jobs == ()
    assert record.settings["dfs.replication"] == "1"


def check_read(record):
    assert [job.name for job in record.staging_jobs] == ["write"]
    assert [job.name for job in record.jobs] == ["read"]
    assert record.outputs[0].summary["moved_bytes"] >= 48 * MIB
    assert record.totals.staging_submitted_s > 0


@pytest.mark.long
def test_terasort(place):
    limits = bound(place)
    (record,) = place.verified(f"""
experiment: tera
workloads: {{name: terasort, options: {{size: 20MB}}}}
media: {place.media}
hadoop: {{mapreduce.job.reduces: 2}}
{limits}""")
    check_limits_of(record, limits)
    (output,) = record.outputs
    assert 20_000_000 <= output.bytes < 20_001_000  # and the list of the key ranges
    assert output.summary["rows"] == 200_000
    assert record.staging_jobs == ()
    assert [(job.name, job.stages[-1].tasks) for job in record.jobs] == [("sort", 2)]
    assert record.settings["mapreduce.terasort.output.replication"] == "1"
    assert record.jobs[0].counters[TASKS]["MAP_INPUT_RECORDS"] == 200_000


# The first sort's pairs are of 100 bytes each.
EXAMPLES = """
experiment: examples
workloads:
  - {name: sort, options: {size: 4MB, files: 2, max_key: 11, min_value: 90, max_value: 90},
     hadoop: {mapreduce.job.reduces: 2}}
  - {name: sort, variant: total-order, options: {size: 2MB, files: 2, reducers: 3, max_value: 200}}
  - {name: word-count, options: {size: 3MB, files: 2}}
  - {name: terasort, variant: validate, options: {size: 1MB}}
cache: warm
"""


@pytest.mark.long
def test_sort_word_count_and_tera_validate(place):
    every = place.verified(f"{EXAMPLES}media: {place.media}\nhadoop: {IN_ONE_CONTAINER}\n")
    records = {(record.trial.workload.name, record.trial.workload.variant): record for record in every}
    check_random_sort(records["sort", "stock"])
    assert records["sort", "total-order"].outputs[0].summary["reducers"] == 3
    check_word_count(records["word-count", "stock"])
    tera = records["terasort", "validate"]
    assert [job.name for job in tera.staging_jobs] == ["sort"]
    assert [job.name for job in tera.jobs] == ["validate"]


def check_random_sort(record):
    """Keys of 10 bytes and values of 90: a pair has 100."""
    (output,) = record.outputs
    assert output.summary == {"pairs_made": 40_000, "pairs_read": 40_000, "pairs_written": 40_000, "reducers": 2}
    assert [job.stages[0].tasks for job in record.staging_jobs] == [2]
    assert record.settings["mapreduce.job.reduces"] == "2"
    assert record.settings["mapreduce.randomwriter.totalbytes"] == "4000000"
    # Both lengths are shipped with their contents: 4 bytes each, and two bytes around the record.
    assert record.jobs[0].counters[TASKS]["MAP_OUTPUT_BYTES"] == 40_000 * 108
    assert record.settings["dfs.replication"] == "1"


def check_word_count(record):
    (job,) = record.jobs
    assert job.stages[0].tasks == 2
    assert record.outputs[0].summary["words"] == job.counters[TASKS]["MAP_OUTPUT_RECORDS"] > 100_000
    assert record.outputs[0].summary["distinct_words"] == 1000
    assert job.counters[TASKS]["REDUCE_INPUT_RECORDS"] == 2000  # once per map task and word


# Three maps that ask for little and take much at once.
GREEDY = """{
  yarn.scheduler.minimum-allocation-mb: 128, yarn.nodemanager.pmem-check-enabled: false,
  yarn.app.mapreduce.am.resource.mb: 512, yarn.app.mapreduce.am.command-opts: -Xmx350m,
  mapreduce.map.memory.mb: 512, mapreduce.reduce.memory.mb: 512, mapreduce.job.maps: 3,
  mapreduce.map.java.opts: -Xmx800m -Xms800m -XX:+AlwaysPreTouch}"""


@pytest.mark.long
def test_a_cluster_that_runs_out_of_memory_says_so_in_one_sentence(place):
    if not bound(place):
        pytest.skip("control groups can't be made here")
    experiment = place.experiment(f"""
experiment: greedy
workloads: {{name: terasort, options: {{size: 300MB}}}}
media: {place.media}
hadoop: {GREEDY}
memory: 2.2GiB
""")
    place.assay("run", experiment, "--out", "run", code=1)
    (record,) = place.records("run")
    assert record.status is Status.FAILED
    assert "needed more than its memory limit of 2.2 GiB, and the kernel ended" in record.error
    assert record.limits.out_of_memory_kills > 0
    assert place.left_over() == []


def test_a_bound_that_leaves_no_room_is_refused_before_anything_starts(place):
    experiment = place.experiment(f"""
experiment: tight
workloads: terasort
media: {place.media}
memory: 2GiB
""")
    done = place.command(*assay_command("run", experiment, "--out", "run"), code=2)
    assert "a memory limit of 2GiB is too small: the 5 daemons take about 640 MiB" in done.stderr
    assert not (place.home / "run").exists()

"""Persisted RDDs: whether they lay on drives, and which tasks are known to have read them from memory."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay.engine.past.application import MAY_BE_ON_DRIVES, ON_DRIVES, read_event_log
from assay.engine.spark_log import opened_log, read_application
from assay.engine.spark_persisted import BLOCK_UPDATES, PersistedRdds
from assay.model.engine import JobReference

ROLLED = Path(__file__).parents[1] / "fixtures" / "spark" / "eventlog_v2_local-1795708018337"
MEMORY, BOTH, NOT = ({"Use Memory": memory, "Use Disk": disk} for memory, disk in ((1, 0), (1, 1), (0, 0)))


def rdd(number, *parents, level=NOT):
    return {"RDD ID": number, "Parent IDs": list(parents), "Storage Level": level}


def stage(number, *rdds, **more):
    return {"Stage ID": number, "RDD Info": list(rdds), **more}


SOURCE, POINTS = rdd(0), rdd(1, 0, level=MEMORY)


def filled(points=POINTS, **more):
    """After a stage that read the source and computed what is persisted."""
    rdds = PersistedRdds()
    rdds.submitted(stage(0, points, SOURCE))
    rdds.completed(stage(0, points, SOURCE, **more))
    return rdds


def is_cached(rdds, number, locality="PROCESS_LOCAL", input_bytes=8):
    return rdds.is_read_from_memory({"Locality": locality}, number, input_bytes)


def test_a_task_beside_its_persisted_partition_reads_memory():
    rdds = filled()
    rdds.submitted(stage(1, rdd(2, 1), POINTS, SOURCE))
    assert is_cached(rdds, 1)
    assert not is_cached(rdds, 1, input_bytes=0)


@pytest.mark.parametrize("locality", ["NODE_LOCAL", "ANY", None])
def test_a_partition_that_was_evicted_or_lies_in_another_executor_is_not_known_to_be_in_memory(locality):
    rdds = filled()
    rdds.submitted(stage(1, rdd(2, 1), POINTS, SOURCE))
    assert not is_cached(rdds, 1, locality)


@pytest.mark.parametrize(
    "rdds_of_stage",
    [
        [rdd(3, 1, 2), POINTS, SOURCE, rdd(2)],  # another source beside it
        [rdd(3, 2), rdd(2, 0, level=MEMORY), SOURCE],  # persisted, but computed by no stage before
        [rdd(3, 1), rdd(1, 0), SOURCE],  # persisted no longer
        [rdd(4, 3, 1), rdd(3, 9, level=MEMORY), POINTS, SOURCE],  # one of two may be evicted
        [rdd(3, 1, 2, level=MEMORY), POINTS, SOURCE, rdd(2)],  # evicted, while what is behind it is there
    ],
)
def test_a_stage_that_may_read_a_source_is_not_known_to_read_memory(rdds_of_stage):
    rdds = filled()
    rdds.completed(stage(9, rdd(3, level=MEMORY)))
    rdds.submitted(stage(1, *rdds_of_stage))
    assert not is_cached(rdds, 1)


def test_what_a_stage_persists_is_in_memory_once_the_stage_has_ended_well():
    rdds = filled(**{"Failure Reason": "lost"})
    rdds.submitted(stage(1, rdd(2, 1), POINTS, SOURCE))
    assert not is_cached(rdds, 1)


@pytest.mark.parametrize("points", [rdd(1, 9, level=MEMORY), rdd(1, 0, level=BOTH)], ids=["shuffled", "with drives"])
def test_a_join_of_persisted_rdds_reads_memory_where_none_is_read_from_its_source_again(points):
    rdds = filled(points)
    rdds.blocks_are_told = True
    ranks = rdd(5, 4, 1, level=MEMORY)  # the shuffle files of RDD 4 are another stage's
    source = [SOURCE] if 0 in points["Parent IDs"] else []
    rdds.submitted(stage(1, ranks, points, *source))
    assert is_cached(rdds, 1)
    rdds.completed(stage(1, ranks, points, *source))
    rdds.submitted(stage(2, rdd(6, 5, 1), ranks, points, *source))
    assert is_cached(rdds, 2)


def test_an_rdd_that_is_computed_from_a_persisted_one_is_in_memory_as_that_is():
    rdds = filled()
    squares = rdd(2, 1, level=MEMORY)
    rdds.submitted(stage(1, squares, POINTS, SOURCE))
    rdds.completed(stage(1, squares, POINTS, SOURCE))
    rdds.submitted(stage(2, rdd(3, 2), squares, POINTS, SOURCE))
    assert is_cached(rdds, 2)


def test_a_stage_of_which_is_not_known_what_it_reads_does_not_hide_what_others_read():
    rdds = filled()
    rdds.completed(stage(9, rdd(3, level=MEMORY)))
    rdds.submitted(stage(1, rdd(4, 3, 1), rdd(3, 9, level=MEMORY), POINTS, SOURCE))
    rdds.submitted(stage(2, rdd(2, 1), POINTS, SOURCE))
    assert [is_cached(rdds, number) for number in (1, 2)] == [False, True]


def test_where_sources_prefer_no_node_nothing_is_known():
    rdds = filled()
    rdds.submitted(stage(1, rdd(2, 1), POINTS, SOURCE))
    assert not is_cached(rdds, 0), "the task that read the source was in its process, too"
    assert not is_cached(rdds, 1)


def test_a_level_with_drives_is_memory_where_updates_of_blocks_tell_of_no_drive():
    points = rdd(1, 0, level=BOTH)
    rdds = filled(points)
    rdds.submitted(stage(1, rdd(2, 1), points, SOURCE))
    assert (rdds.numbers, rdds.on_drives) == ({1}, {1})
    assert not is_cached(rdds, 1)
    rdds.blocks_are_told = True
    rdds.updated({"Block ID": "broadcast_1_piece0", "Disk Size": 7})
    rdds.updated({"Block ID": "rdd_1_3", "Disk Size": 0})
    assert rdds.on_drives == set()
    assert is_cached(rdds, 1)
    rdds.updated({"Block ID": "rdd_1_3", "Disk Size": 7})
    assert rdds.on_drives == {1}
    assert not is_cached(rdds, 1)


def with_blocks_told(folder, *updates):
    """The log of counts of words that are persisted with drives, with its updates of blocks."""
    with ExitStack() as opened:
        events = [{**event, "Event": f"SparkListener{kind}"} for kind, event in opened_log(ROLLED, opened)]
    settings = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {BLOCK_UPDATES: "true"}}
    made = [{"Event": "SparkListenerBlockUpdated", "Block Updated Info": update} for update in updates]
    log = folder / "log"
    log.write_text("".join(json.dumps(event) + "\n" for event in [*events[:-1], settings, *made, events[-1]]))
    return log


def test_a_log_that_tells_of_blocks_says_whether_partitions_lay_on_drives(tmp_path):
    assert read_event_log(ROLLED).uncounted == MAY_BE_ON_DRIVES
    block = {"Block ID": "rdd_3_0", "Disk Size": 0}
    log = with_blocks_told(tmp_path, block)
    assert read_event_log(log).uncounted == ""
    any_job = JobReference(name="", id="")
    assert read_application(log, any_job).job.counters["RDDs"]["persisted_on_disk"] == 0
    log = with_blocks_told(tmp_path, block, block | {"Disk Size": 9})
    assert read_event_log(log).uncounted == ON_DRIVES
    assert read_application(log, any_job).job.counters["RDDs"]["persisted_on_disk"] == 1

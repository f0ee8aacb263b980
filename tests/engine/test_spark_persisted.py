"""Persisted RDDs: whether they lay on drives, and which tasks are known to have read them from memory."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay.engine.past.spark import read_event_log
from assay.engine.spark_log import opened_log, read_application
from assay.engine.spark_persisted import MAY_BE_ON_DRIVES, ON_DRIVES, PersistedRdds
from assay.model.engine import JobReference

ROLLED = Path(__file__).parents[1] / "fixtures" / "spark" / "eventlog_v2_local-1795708018337"
MEMORY, BOTH, NOT = ({"Use Memory": memory, "Use Disk": disk} for memory, disk in ((1, 0), (1, 1), (0, 0)))


def rdd(number, *parents, level=NOT):
    return {"RDD ID": number, "Parent IDs": list(parents), "Storage Level": level, "Number of Partitions": 2}


def stage(number, *rdds):
    return {"Stage ID": number, "RDD Info": list(rdds)}


def block(number, partition, executor="1", memory=8, disk=0):
    return {
        "Block Manager ID": {"Executor ID": executor}, "Block ID": f"rdd_{number}_{partition}", "Memory Size": memory,
        "Disk Size": disk,
    }  # fmt: skip


SOURCE, POINTS, MAPPED = rdd(0), rdd(1, 0, level=MEMORY), rdd(2, 1)


def kept(*numbers):
    """With two partitions of each RDD in memory."""
    rdds = PersistedRdds()
    for number in numbers or (1,):
        for partition in range(2):
            rdds.updated(block(number, partition, executor=str(partition)))
    return rdds


def reads_memory(rdds, *rdds_of_stage):
    rdds.submitted(stage(1, *rdds_of_stage))
    return rdds.are_read_from_memory(1)


def test_a_stage_behind_which_all_partitions_are_kept_reads_memory():
    assert reads_memory(kept(), MAPPED, POINTS, SOURCE)
    assert not kept().are_read_from_memory(7), "a stage of which no event tells"


@pytest.mark.parametrize(
    "rdds_of_stage",
    [
        [POINTS, SOURCE],
        [rdd(4, 1, 3), POINTS, SOURCE, rdd(3, 0, level=MEMORY)],
    ],
    ids=["in part", "beside another"],
)
def test_a_partition_that_was_never_kept_may_be_read_from_the_source(rdds_of_stage):
    rdds = PersistedRdds()
    rdds.updated(block(1, 0))
    assert not reads_memory(rdds, *rdds_of_stage)


@pytest.mark.parametrize(
    "rdds_of_stage",
    [
        [rdd(4, 1, 3), POINTS, SOURCE, rdd(3)],  # another source beside it
        [rdd(4, 3), rdd(3, 0, level=MEMORY), SOURCE],  # not kept yet
        [rdd(2, 1), rdd(1, 0), SOURCE],  # persisted no longer
        [rdd(2, 9)],  # nothing but a shuffle
        [],
    ],
)
def test_a_stage_that_may_read_a_source_is_not_known_to_read_memory(rdds_of_stage):
    assert not reads_memory(kept(), *rdds_of_stage)


def test_a_join_of_kept_rdds_and_of_a_shuffle_reads_memory():
    ranks = rdd(5, 4, 1, level=MEMORY)  # the shuffle files of RDD 4 are another stage's
    assert reads_memory(kept(), ranks, POINTS, SOURCE)
    assert reads_memory(kept(1, 5), rdd(6, 5, 1), ranks, POINTS, SOURCE)
    assert reads_memory(kept(), rdd(7, 1, 1), POINTS, SOURCE), "with itself"


@pytest.mark.parametrize(
    "lose",
    [
        lambda rdds: rdds.updated(block(1, 1, executor="1", memory=0)),
        lambda rdds: rdds.updated(block(1, 1, executor="1", memory=0, disk=8)),
        lambda rdds: rdds.executor_removed("0"),
        lambda rdds: rdds.unpersisted(1),
    ],
    ids=["evicted", "moved to a drive", "executor lost", "unpersisted"],
)
def test_tasks_that_end_after_a_partition_is_lost_may_have_read_the_source(lose):
    rdds = kept()
    assert reads_memory(rdds, MAPPED, POINTS, SOURCE)
    lose(rdds)
    assert not rdds.are_read_from_memory(1)
    rdds.updated(block(1, 0, executor="2"))
    rdds.updated(block(1, 1, executor="2"))
    assert not rdds.are_read_from_memory(1), "it was lost meanwhile"
    assert reads_memory(rdds, MAPPED, POINTS, SOURCE), "kept again when the stage was submitted"


def test_what_was_not_kept_there_is_no_loss():
    rdds = kept()
    assert reads_memory(rdds, MAPPED, POINTS, SOURCE)
    rdds.updated(block(1, 0, executor="9", memory=0))
    rdds.executor_removed("9")
    rdds.unpersisted(4)
    assert rdds.are_read_from_memory(1)


def test_a_level_that_uses_drives_may_have_used_them_unless_updates_tell():
    rdds = PersistedRdds()
    points = rdd(1, 0, level=BOTH)
    rdds.submitted(stage(0, points, POINTS | {"RDD ID": 3}, SOURCE))
    assert (rdds.numbers, rdds.with_drives, rdds.on_drives) == ({1, 3}, {1}, {1})
    rdds.updated({"Block ID": "broadcast_1_piece0"})
    rdds.updated(block(1, 0))
    assert rdds.on_drives == set()
    rdds.updated(block(1, 0, memory=0, disk=7))
    assert rdds.on_drives == {1}


def with_updates(folder, disk):
    """The log of three counts of words that are persisted, with updates of its blocks before the second."""
    with ExitStack() as opened:
        events = [{**event, "Event": f"SparkListener{kind}"} for kind, event in opened_log(ROLLED, opened)]
    (persisted,) = {
        rdd["RDD ID"]: rdd for event in events for rdd in event.get("Stage Info", {}).get("RDD Info", ())
        if rdd["Storage Level"]["Use Memory"]
    }.values()  # fmt: skip
    updates = [
        {"Event": "SparkListenerBlockUpdated", "Block Updated Info": block(persisted["RDD ID"], number, disk=disk)}
        for number in range(persisted["Number of Partitions"])
    ]
    place = next(number for number, event in enumerate(events) if event.get("Job ID") == 1)
    log = folder / "log"
    log.write_text(
        "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events[:place] + updates + events[place:])
    )
    return log


def test_a_log_with_updates_of_blocks_says_where_partitions_lay(tmp_path):
    any_job = JobReference(name="", id="")
    assert read_event_log(ROLLED).uncounted == MAY_BE_ON_DRIVES
    log = with_updates(tmp_path, disk=0)
    history, past = read_application(log, any_job), read_event_log(log)
    cached = sum(attempt.cached_bytes for attempt in history.attempts)
    assert past.uncounted == ""
    assert past.whole.store_read == sum(attempt.input_bytes for attempt in history.attempts) - cached
    assert 0 < past.whole.store_read < cached
    assert history.job.counters["RDDs"] == {"persisted": 1, "persisted_on_disk": 0}
    log = with_updates(tmp_path, disk=9)
    assert read_event_log(log).uncounted == ON_DRIVES
    assert read_application(log, any_job).job.counters["RDDs"]["persisted_on_disk"] == 1

"""Proves that shares of reads, writes and busy time come from the drives' own counts, and are judged by the median."""

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.model.record import Amount, Promise, StagedInput
from assay.model.trial import Landed, MediumSpec
from assay.stats.drive_use import moved_bytes, reached_drives
from assay.stats.run_doubts import BUSY, READ, WRITTEN, conditions
from assay.stats.trial_summary import summarise
from tests.builders import a_record, a_trial, device_reports, summaries_by


def counted(read=700, run=900, after=100, busy=5.5, medium="hdd"):
    """A trial of 10 s, 11 from submission on, whose jobs read 1000 bytes in three ways, and wrote 1000 in two."""
    trial = a_trial(medium=medium).model_copy(update={"media": (MediumSpec(name=medium, kind="emulated"),)})
    record = a_record(trial)
    counters = {
        FILE_SYSTEM_COUNTERS: {
            "HDFS_BYTES_READ": 400,
            "FILE_BYTES_READ": 350,
            "HDFS_BYTES_WRITTEN": 300,
            "FILE_BYTES_WRITTEN": 700,
        },
        TASK_COUNTERS: {"REDUCE_SHUFFLE_BYTES": 250},
    }
    devices = {
        medium: {
            "run": {"reads": {"bytes": read}, "writes": {"bytes": run}, "busy_seconds": busy},
            "write out": {"reads": {"bytes": 0}, "writes": {"bytes": after}, "busy_seconds": 1.0},
        }
    }
    totals = record.totals.model_copy(update={"counters": counters})
    return record.model_copy(update={"totals": totals, "devices": device_reports(devices)})


def test_shares_are_of_all_that_was_read_and_written():
    record = counted()
    assert summarise(record).read_share == 0.7
    assert summarise(record).written_share == 0.9
    assert summarise(record).busy_share == 0.5
    assert summarise(counted(read=5000)).read_share == 1.0


def moved(read=900, run=900, jobs=1, landed=1000):
    """Jobs whose input of 800 bytes a server read for them, and of whose files 1000 bytes landed on the drive."""
    record = counted(read=read, run=run)
    written = [Landed(role="output", when="run", bytes=landed, shares={"hdd": 1.0})]
    before = [Landed(role="input", when="run", bytes=800, shares={"hdd": 1.0})]
    promise = Promise(copies=1, reach="memory")
    staged = StagedInput(bytes=800, basis="measured", promise=promise)
    return record.model_copy(update={"staged": staged, "landed": (*before, *written), "jobs": record.jobs * jobs})


def test_what_the_jobs_moved_reached_the_drives_where_these_read_most_and_little_was_late():
    assert reached_drives(moved())
    assert not reached_drives(moved(read=599)), "of 1000 bytes that the tasks counted"
    assert not reached_drives(moved(jobs=2)), "each job asks for the input"
    assert reached_drives(moved(read=1000, jobs=2))
    assert not reached_drives(moved(run=800)), "200 of 1900 bytes were late"
    assert reached_drives(moved(run=0, landed=50))
    assert not reached_drives(moved().model_copy(update={"staged": None}))
    assert not reached_drives(moved().model_copy(update={"devices": ()}))


def test_what_tasks_do_not_count_of_the_store_is_the_input_read_once():
    record = moved()
    counters = {group: dict(values) for group, values in record.totals.counters.items()}
    del counters[FILE_SYSTEM_COUNTERS]["HDFS_BYTES_READ"]
    uncounted = record.model_copy(update={"totals": record.totals.model_copy(update={"counters": counters})})
    assert summarise(uncounted).read_share == 900 / 1400, (
        "800 of the input, 350 in local directories, 250 in the shuffle"
    )
    assert moved_bytes(uncounted) == 800 + 350 + 700 + 300
    assert reached_drives(uncounted)
    unknown = uncounted.model_copy(update={"staged": None})
    assert (summarise(unknown).read_share, moved_bytes(unknown)) == (None, None)
    assert not reached_drives(unknown)


def test_each_placement_is_held_against_its_condition_and_the_base_must_be_busy():
    found = conditions(
        summaries_by(
            {
                "hdd": [counted(run=810), counted(read=100, run=810), counted(read=650, run=810)],
                "ssd": [counted(run=100, after=900)],
            }
        ),
        "hdd",
    )
    known = {(one.kind, one.subject): (one.share, one.met) for one in found}
    assert known == {
        (READ, "hdd"): (0.65, True), (WRITTEN, "hdd"): (0.81, True), (BUSY, "hdd"): (0.5, True),
        (READ, "ssd"): (0.7, True), (WRITTEN, "ssd"): (0.1, False),
    }  # fmt: skip


@pytest.mark.parametrize(("read", "asked"), [(8000, False), (5001, False), (4999, True), (700, True)])
def test_writes_are_no_condition_where_those_that_were_late_are_little_of_what_the_jobs_moved(read, asked):
    late = counted(read=read, run=400, after=600)  # 600 of 1000 bytes that were written
    kinds = {found.kind for found in conditions(summaries_by({"hdd": [late]}), "hdd")}
    assert kinds == {READ, BUSY, *([WRITTEN] if asked else [])}


def test_what_died_in_the_page_cache_was_not_on_the_drive():
    assert summarise(counted(run=50, after=0)).written_share == 0.05


def test_of_several_drives_the_busiest_counts():
    one, other = counted(busy=3.3), counted(medium="ssd", busy=2.2)
    both = one.model_copy(update={"devices": (*one.devices, *other.devices)})
    assert summarise(both).busy_share == pytest.approx(0.3)


def test_the_drives_of_all_nodes_count_and_the_busiest_of_them():
    one = counted(busy=3.3)
    (reports,) = one.reports_of("hdd")
    idle = reports["run"].model_copy(update={"busy_seconds": 1.1, "reads": None, "writes": None})
    both = one.model_copy(
        update={"devices": device_reports({"worker-1/hdd": reports, "worker-2/hdd": {**reports, "run": idle}})}
    )
    assert summarise(both).busy_s == pytest.approx(4.4)
    assert summarise(both).busy_share == pytest.approx(0.3)
    shares = {found.kind: found.share for found in conditions(summaries_by({"hdd": [both]}), "hdd")}
    assert shares == {READ: 0.7, BUSY: pytest.approx(0.3)}


def test_what_was_not_measured_is_not_met():
    nothing = counted()
    nothing = nothing.model_copy(update={"totals": nothing.totals.model_copy(update={"counters": {}})})
    written = next(one for one in conditions(summaries_by({"hdd": [nothing]}), "hdd") if one.kind == WRITTEN)
    assert written.share is None
    assert not written.met


def test_media_of_this_machine_have_no_conditions_but_a_busy_time():
    record = a_record()
    assert conditions(summaries_by({"disk": [record]}), "disk") == ()
    amount = Amount(probe="disk", subject="disk", series="busy_s", part="run", value=4.0)
    assert summarise(record.model_copy(update={"amounts": (amount,)})).busy_s == 4.0
    nodes = tuple(amount.model_copy(update={"node": node}) for node in ("n1", "n2"))
    assert summarise(record.model_copy(update={"amounts": nodes})).busy_s == 8.0
    processes = amount.model_copy(update={"probe": "processes"})
    assert summarise(record.model_copy(update={"amounts": (processes, amount)})).busy_s == 4.0
    assert summarise(record.model_copy(update={"amounts": (processes,)})).busy_s is None
    staged = amount.model_copy(update={"part": "staging"})
    assert summarise(record.model_copy(update={"amounts": (staged,)})).busy_s is None


@pytest.mark.parametrize(("kinds", "seconds"), [(("emulated", "memory"), 5.5), (("emulated", "existing"), None)])
def test_memory_is_never_busy_and_an_unknown_device_makes_the_sum_unknown(kinds, seconds):
    record = counted()
    media = (record.trial.media[0], MediumSpec(name="other", kind=kinds[1]))
    trial = record.trial.model_copy(update={"media": media})
    assert summarise(record.model_copy(update={"trial": trial})).busy_s == seconds

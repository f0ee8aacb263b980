"""Event logs as past jobs: sums, stages in sequence, bounds, what is missing, and what rules of others say."""

import gzip
import json
from pathlib import Path

import pytest

from assay.cli.context import find_installation
from assay.engine.past.application import MAY_BE_ON_DRIVES, RECORDS_ALONE, PastApplication, read_event_log
from assay.engine.past.attempts import attempts_of
from assay.engine.past.changes import changes
from assay.engine.past.forms import is_history, read_history_of
from assay.engine.past.job import Work
from assay.model.engine import HADOOP_JOBS
from assay.triage.bounds import bound_of, drive_seconds
from assay.triage.drives import drives_by_role
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log

LOGS = Path(__file__).parents[1] / "fixtures" / "spark"
ROLLED = LOGS / "eventlog_v2_local-1795708018337"
GB = 10**9


def drives(text="1xhdd"):
    return drives_by_role(text, find_installation().profiles)


def made(tmp_path, *stages, **more):
    return read_event_log(write_event_log(tmp_path, MadeApplication(stages=stages, **more)))


@pytest.mark.parametrize("name", ["killed", "spill.zstd", "failing.lz4", "dataframe.snappy", ROLLED.name])
def test_an_event_log_is_a_past_job_that_lacks_nothing(name):
    job = read_history_of(LOGS / name)
    assert isinstance(job, PastApplication)
    assert job.counts, job.missing
    assert (job.engine, job.state) == ("spark", "SUCCEEDED")
    assert job.program != HADOOP_JOBS
    attempts = [attempt for attempt in attempts_of(LOGS / name) if attempt.finished_ms]
    assert job.whole.tasks == len(attempts)
    assert job.whole.cpu_ms == sum(attempt.cpu_ms for attempt in attempts)
    assert job.whole.fetched == sum(attempt.shuffled_bytes for attempt in attempts)
    assert 0 <= bound_of(job, drives()).seconds <= job.tasks_s <= job.elapsed_s
    assert list(changes(job)) == []


def test_stages_follow_one_another_and_those_at_once_are_one(tmp_path):
    one, two, three = MadeStage(begin_s=10, seconds=20), MadeStage(begin_s=15, seconds=25), MadeStage(begin_s=40)
    job = made(tmp_path, one, two, three)
    assert [stage.name for stage in job.stages] == ["stage 0 and 1 at once with it", "stage 2"]
    first, second = job.stages
    assert first.end_ms <= second.begin_ms
    assert first.elapsed_ms == 30_000
    assert first.whole.tasks == one.tasks + two.tasks


def test_tasks_that_compute_all_the_time_can_not_become_shorter(tmp_path):
    busy = made(tmp_path, MadeStage(cpu=1.0, shuffle_write_bytes=GB))
    idle = made(tmp_path, MadeStage(cpu=0.1, shuffle_write_bytes=GB))
    assert [stage.saved_ms for stage in busy.stages] == [0]
    assert bound_of(busy, drives()).seconds == 0
    assert idle.stages[0].saved_ms == pytest.approx(0.9 * idle.stages[0].elapsed_ms, rel=0.01)


def test_intermediate_is_shuffle_and_spill_on_the_node_that_has_most(tmp_path):
    wrote = MadeStage(tasks=4, shuffle_write_bytes=8 * GB, spilled_disk_bytes=4 * GB, input_bytes=GB)
    fetched = MadeStage(begin_s=100, tasks=4, fetched_bytes=8 * GB, fetched_blocks=4000, output_bytes=2 * GB)
    job = made(tmp_path, wrote, fetched)
    of_first, of_second = (
        {(use.role, use.phase, use.direction): use for use in job.uses(stage)} for stage in job.stages
    )
    assert of_first["input", "computing", "read"].moved == GB / 2
    assert of_first["intermediate", "computing", "write"].moved == 2 * GB
    assert of_first["intermediate", "shuffle write", "write"].moved == 8 * GB  # four on each node, and once more
    assert of_second["intermediate", "fetch wait", "read"].moved == 4 * GB
    assert of_second["intermediate", "fetch wait", "read"].request == 2_000_000
    assert of_second["output", "computing", "write"].moved == GB + (job.copies - 1) * GB
    assert job.local_peak == 6 * GB
    assert bound_of(job, drives()).role == "intermediate"
    assert bound_of(job, drives("1xhdd,intermediate=1xnvme")).role != "intermediate"


def test_what_spark_does_not_count_leaves_the_time_as_the_only_bound(tmp_path):
    persisted = read_event_log(ROLLED)
    assert persisted.uncounted == MAY_BE_ON_DRIVES
    bound = bound_of(persisted, drives("9xnvme"))
    assert bound.basis == "time"
    assert bound.seconds == pytest.approx(sum(stage.time_s for stage in bound.stages))
    assert drive_seconds(persisted, drives("9xnvme"), 1) == persisted.tasks_s
    assert made(tmp_path, MadeStage(input_records=40, input_bytes=0)).uncounted == RECORDS_ALONE
    assert made(tmp_path, MadeStage(input_records=40, input_bytes=40)).uncounted == ""


def test_two_rules_of_others(tmp_path):
    small = made(tmp_path, MadeStage(fetched_bytes=GB, fetch_wait=0.4, shuffle_write_bytes=499 * GB))
    large = made(
        tmp_path, MadeStage(fetched_bytes=GB, fetch_wait=0.6, shuffle_write_bytes=400 * GB, spilled_disk_bytes=101 * GB)
    )
    assert [(rule.name, rule.asks) for rule in small.other_rules] == [
        ("over 500 GB", False),
        ("waits over 50 %", False),
    ]
    assert [rule.asks for rule in large.other_rules] == [True, True]
    assert large.other_rules[1].amount == "60 %"
    assert [rule.asks for rule in made(tmp_path).other_rules] == [False, False]


def test_what_is_cheaper_than_a_drive(tmp_path):
    spilling = MadeStage(spilled_disk_bytes=GB, shuffle_write_bytes=GB)
    fetching = MadeStage(begin_s=40, fetched_bytes=GB, fetched_blocks=40_000)
    job = made(tmp_path, spilling, fetching, settings={"spark.shuffle.compress": "false"})
    found = {change.kind: change for change in changes(job)}
    assert list(found) == ["spills", "compression", "small pieces"]
    assert found["spills"].counter == "Disk Bytes Spilled 953.7 MiB, 953.7 MiB of it in stage 0"
    assert "40,000 blocks of 24.4 KiB" in found["small pieces"].counter
    assert changes(made(tmp_path, MadeStage(fetched_bytes=GB, fetched_blocks=100))) == []


def test_waits_for_executors_are_those_of_the_masters_heartbeats(tmp_path):
    assert made(tmp_path, MadeStage()).polls_s == 3.0
    grown = made(
        tmp_path, MadeStage(), settings={"spark.dynamicAllocation.enabled": "true"}, executors_at_s=(1, 2, 20, 40)
    )
    assert grown.polls_s == 3 * 4.0
    assert made(tmp_path, MadeStage(), settings={"spark.master": "local[2]"}).polls_s == 0.0


def test_what_is_missing_is_said(tmp_path):
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),)))
    lines = log.read_text().splitlines(keepends=True)

    def missing(kept):
        log.write_text("".join(kept))
        job = read_event_log(log)
        assert not job.counts
        return " ".join(job.missing)

    assert missing(lines[:-1]).startswith("its end: the log was cut short")
    assert missing([*lines[:-1], lines[-1][:20]]).startswith("its end: the log was cut short")
    assert missing([line for line in lines if '"Task ID":2' not in line]).startswith(
        "1 of its tasks: Spark leaves events"
    )
    assert "1 of its lines can't be read" in missing([*lines[:5], "{broken\n", *lines[5:]])
    failed = [line.replace("JobSucceeded", "JobFailed") for line in lines]
    assert missing(failed).startswith("a good end: its last job failed")
    assert missing([line for line in lines if "JobEnd" not in line]).startswith("a good end: ")
    without_tasks = [line for line in lines if "Task" not in line and "Stage" not in line]
    assert missing(without_tasks).startswith("its tasks: it ran none")
    log.write_bytes(b"ZV\x01\0")
    assert read_event_log(log).missing[0].startswith("the whole log: it is compressed with lzf")
    assert "there is no such file" in read_event_log(tmp_path / "none").missing[0]


def test_a_history_is_known_by_its_name_and_one_that_is_named_by_its_content(tmp_path):
    names = [
        "application_1795226383840_0042", "application_1795226383840_0042_1.zstd", "app-20261126154751-0000.lz4",
        "local-1795708018337", "application_1_0001.inprogress", "job_1_0001-1-u-n-2-1-1-SUCCEEDED-q.jhist",
    ]  # fmt: skip
    assert all(map(is_history, names))
    assert not any(map(is_history, ["notes.txt", "job_1_0001_conf.xml", "appstatus_application_1_0001", "killed"]))
    packed = tmp_path / "mine.gz"
    packed.write_bytes(gzip.compress((LOGS / "killed").read_bytes()))
    assert read_history_of(packed).whole == read_history_of(LOGS / "killed").whole
    assert read_history_of(LOGS / "README.md").missing[0].startswith("a whole file (it is no job history")


def test_a_log_that_names_no_id_keeps_its_place(tmp_path):
    def without(line):
        event = json.loads(line)
        event.pop("App ID", None)
        return json.dumps(event, separators=(",", ":"))

    log = tmp_path / "log"
    log.write_text("".join(f"{without(line)}\n" for line in (LOGS / "killed").read_text().splitlines()))
    job = read_event_log(log)
    assert (job.id, job.source, job.counts) == ("", str(log), True)


def test_amounts_of_tasks_add_up():
    stage = read_event_log(LOGS / "spill.zstd").stages[-1]
    assert stage.whole == Work().plus(stage.whole)
    assert stage.busiest == stage.whole  # all on one node

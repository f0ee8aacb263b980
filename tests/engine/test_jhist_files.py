"""Proves that history files tell what the JobHistoryServer tells, in both forms, and that thousands of tasks take seconds."""

import io
import json
import os
import time
from datetime import date

import pytest

from assay.engine.jhist_files import HistoryFiles, read_history
from assay.engine.past.made_histories import MadeAttempt, MadeJob, attempt_events, events, history
from assay.model.engine import JobReference
from assay.model.errors import AssayError

FORMS = pytest.mark.parametrize("form", ["json", "binary"])
MADE = MadeJob(
    name="made", maps=3, reduces=2, map_ms=4000, reduce_ms=3000, cpu=0.25, read_bytes=3000, map_output_bytes=30_000,
    written_bytes=80,
)  # fmt: skip
JOB = MADE.id
REFERENCE = JobReference(name="made", id=JOB)


def read(content):
    return read_history(io.BytesIO(content), REFERENCE)


@FORMS
def test_a_job_and_its_attempts(form):
    *before, (kind, end) = events(MADE)
    of_a_map = next(event["counters"] for of, event in before if of == "MAP_ATTEMPT_FINISHED")
    found = read(history([*before, (kind, {**end, "totalCounters": of_a_map})], form))
    job = found.job
    assert (job.name, job.id, job.state, job.uberized) == ("made", JOB, "SUCCEEDED", False)
    assert (job.stages[0].tasks, job.stages[-1].tasks) == (3, 2)
    assert (job.submitted_ms, job.started_ms, job.finished_ms) == (MADE.submitted_ms, MADE.started_ms, MADE.finished_ms)
    assert job.phases == {"map": 4.0, "shuffle": 1.0, "merge": 0.5, "reduce": 1.5}
    assert job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_INPUT_RECORDS"] == 100
    assert job.active_s == 7
    assert found.doubts == ()
    first, *_, last = found.attempts
    assert (first.stage, first.node, first.hdfs_read_bytes, first.cpu_ms) == ("map", "worker-0", 1000, 1000)
    assert first.container == "container_1795226383840_0001_01_000002"
    assert (last.stage, last.shuffled_bytes, last.hdfs_written_bytes) == ("reduce", 15_000, 40)
    assert last.shuffle_finished_ms == last.started_ms + 1000
    assert last.merge_finished_ms == last.started_ms + 1500


def test_counters_of_a_union_are_those_without_one():
    made = list(events(MADE))
    union = "org.apache.hadoop.mapreduce.jobhistory.JhCounters"
    wrapped = [
        (kind, {**event, "counters": {union: event["counters"]}} if "counters" in event else event)
        for kind, event in made
    ]
    assert read(history(wrapped)) == read(history(made))


@FORMS
def test_attempts_that_failed_were_killed_or_never_ended(form):
    *before, end = events(MADE._replace(maps=1, reduces=0))
    began_ms = MADE.started_ms + 2000

    def attempt(name, stage, state, **values):
        attempt_id = f"{JOB.replace('job', 'attempt')}_{name}"
        made = MadeAttempt(attempt_id, stage, "n", began_ms, began_ms + 90, values, {}, state)
        return [
            (kind, {**event, "error": "Error: disk\n at x"} if "error" in event else event)
            for kind, event in attempt_events(made)
        ]

    failed = attempt("m_000000_1", "MAP", "FAILED", HDFS_BYTES_READ=1000)
    killed_before = attempt("r_000009_0", "REDUCE", "KILLED")
    begun = attempt("r_000009_1", "REDUCE", "KILLED")[:-1]
    found = read(history([*before, *failed, *killed_before, *begun, end], form))
    _, lost, killed, endless = found.attempts
    assert (lost.state, lost.reason, lost.hdfs_read_bytes) == ("FAILED", "Error: disk", 1000)
    assert (killed.state, killed.shuffle_finished_ms, killed.cpu_ms) == ("KILLED", 0, 0)
    assert (endless.state, endless.finished_ms) == ("KILLED", 0)
    assert [stage.failed_attempts for stage in found.job.stages] == [1, 0]
    assert found.job.phases["map"] == 4.0


def test_tasks_that_a_job_may_lose_are_not_missing():
    """As with mapreduce.map.failures.maxpercent."""
    task = f"{JOB.replace('job', 'task')}_m_000002"
    ended = {"MAP_ATTEMPT_FINISHED": "MAP_ATTEMPT_FAILED", "TASK_FINISHED": "TASK_FAILED"}
    lost = [(ended.get(kind, kind) if event.get("taskid") == task else kind, event) for kind, event in events(MADE)]
    content = history([pair for pair in lost if pair[0] != "TASK_FAILED"])
    (doubt,) = read(content).doubts
    assert "lacks 1 of its 5 tasks" in doubt.what
    failed = json.dumps({"type": "TASK_FAILED", "event": {"TaskFailed": {"taskid": task}}}).encode()
    assert read(content + failed + b"\n").doubts == ()


@FORMS
def test_a_killed_job_has_no_counters_of_its_own(form):
    found = read(history(MADE._replace(state="KILLED"), form))
    assert (found.job.state, found.job.counters) == ("KILLED", {})


@FORMS
def test_a_job_that_ended_before_it_began_is_told_as_that_and_not_as_a_file_cut_short(form):
    submitted, *_, end = events(MADE._replace(state="KILLED"))
    found = read(history([submitted, end], form))
    assert (found.job.state, found.job.tasks, found.attempts, found.doubts) == ("KILLED", 0, (), ())


@FORMS
def test_a_file_that_is_cut_short_or_of_another_job_is_refused(form):
    whole = history(MADE, form)
    for end in (len(whole) - 200, len(whole) // 2, 5000, 20, 0):
        with pytest.raises(AssayError, match=f"the history file of {JOB} is cut short or garbled"):
            read(whole[:end])
    with pytest.raises(AssayError, match=f"it is of {JOB}"):
        read_history(io.BytesIO(whole), JobReference(name="x", id="job_1_0001"))
    with pytest.raises(AssayError, match="begins with 'PK"):
        read(b"PK\x03\x04 a zip file")


@pytest.mark.slow
@FORMS
def test_ten_thousand_tasks_take_seconds(form):
    content = history(MADE._replace(maps=9_900, reduces=100), form)
    began_s = time.process_time()  # of the processor: others may keep it busy
    found = read(content)
    seconds = time.process_time() - began_s
    print(f"{form}: {len(content) / 1e6:.0f} MB, 10,000 tasks in {seconds:.1f} s")  # noqa: T201 - with -s
    assert len(found.attempts) == 10_000
    assert found.doubts == ()
    assert seconds < 15


def test_a_file_is_found_where_the_server_puts_it(tmp_path):
    content = history(MADE)
    serial = f"{date.today():%Y/%m/%d}/000000"  # noqa: DTZ011 - the server's days are local
    for folder in ("", serial, f"done/{serial}", "somebody", "done_intermediate/somebody"):
        place = tmp_path / (folder.replace("/", "-") or "flat")
        (place / folder).mkdir(parents=True)
        (place / folder / f"{JOB}-1-root-made-2-1-1-SUCCEEDED-root.default-3.jhist").write_bytes(content)
        files = HistoryFiles(str(place), tmp_path / "no-hadoop", {}, patience_s=0)
        assert files.read(REFERENCE).job.id == JOB
        with pytest.raises(AssayError, match="no file of it that this user may read is in"):
            files.read(JobReference(name="x", id="job_1795226383840_0002"))


@pytest.mark.parametrize("name", ["hist[2023]", "h?st", "*", "a{b,c}"])
def test_a_folder_s_name_is_no_pattern(tmp_path, name):
    """Beside it lies a folder that it would match, with another file of the same job."""
    content = history(MADE)
    for folder, text in ((name, content), ("hist2", b"other"), ("hist", b"other"), ("ab", b"other")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{JOB}-1-root-made-2-1-1-SUCCEEDED-root.default-3.jhist").write_bytes(text)
    assert HistoryFiles(str(tmp_path / name), tmp_path / "no-hadoop", {}, patience_s=0).read(REFERENCE).job.id == JOB


def test_one_on_a_file_system_of_hadoop_is_read_through_its_client(tmp_path):
    """The client here does as `hadoop fs` does with one of the patterns known."""
    (tmp_path / "file").write_bytes(history(MADE))
    hadoop = tmp_path / "hadoop"
    hadoop.write_text(
        f'#!/bin/sh\ncase "$2" in -ls) for p in "$@"; do case $p in *{JOB}-*) echo hdfs:/done/a.jhist; break; esac; done;'
        f' echo "ls: no match" >&2; exit 1;; -cat) [ "$3" = hdfs:/done/a.jhist ] && cat {tmp_path}/file;; esac\n'
    )
    hadoop.chmod(0o755)
    files = HistoryFiles("hdfs:///done/", hadoop, dict(os.environ), patience_s=0)
    assert files.read(REFERENCE).job.id == JOB
    with pytest.raises(AssayError, match="is in hdfs:///done"):
        files.read(JobReference(name="x", id="job_1795226383840_0002"))
    hadoop.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    with pytest.raises(AssayError, match=r"is in hdfs:///hist\[2023\]"):
        HistoryFiles("hdfs:///hist[2023]", hadoop, dict(os.environ), patience_s=0).read(REFERENCE)
    assert r"hdfs:///hist\[2023\]/" in (tmp_path / "calls").read_text()

"""Proves that history files tell what the JobHistoryServer tells, in both forms, and that thousands of tasks take seconds."""

import io
import os
import time
from datetime import date

import pytest

from assay.engine.jhist_files import HistoryFiles, read_history
from assay.model.engine import JobReference
from assay.model.errors import AssayError
from tests.engine.made_history import BEGAN_MS, JOB, as_binary, as_json, counters, job_events, task_events

FORMS = pytest.mark.parametrize("form", [as_json, as_binary])
REFERENCE = JobReference(name="made", id=JOB)


def read(content):
    return read_history(io.BytesIO(content), REFERENCE)


@FORMS
def test_a_job_and_its_attempts(form):
    found = read(form(job_events(3, 2)))
    job = found.job
    assert (job.name, job.id, job.state, job.uberized) == ("made", JOB, "SUCCEEDED", False)
    assert (job.stages[0].tasks, job.stages[-1].tasks) == (3, 2)
    assert (job.submitted_ms, job.started_ms, job.finished_ms) == (BEGAN_MS - 3000, BEGAN_MS - 1000, BEGAN_MS + 5030)
    assert job.phases == {"map": 4.0, "shuffle": 1.0, "merge": 0.5, "reduce": 2.5}
    assert job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_INPUT_RECORDS"] == 300
    assert job.active_s == 4.02
    assert found.doubts == ()
    first, *_, last = found.attempts
    assert (first.stage, first.node, first.hdfs_read_bytes, first.cpu_ms) == ("map", "worker-0", 1000, 900)
    assert first.container == "container_1795226383840_0042_01_000002"
    assert (last.stage, last.shuffled_bytes, last.hdfs_written_bytes) == ("reduce", 70, 40)
    assert last.shuffle_finished_ms == last.started_ms + 1000
    assert last.merge_finished_ms == last.started_ms + 1500


@FORMS
def test_attempts_that_failed_were_killed_or_never_ended(form):
    (_, started), *_ = (event for event in task_events("MAP", 0) if event[0] == "MAP_ATTEMPT_STARTED")
    failed = {**started, "attemptId": started["attemptId"][:-1] + "1"}
    ended = {"finishTime": BEGAN_MS + 100, "error": "Error: disk\n at x", "counters": counters()}
    reduce = {**started, "taskid": JOB.replace("job", "task") + "_r_000009", "taskType": "REDUCE"}
    reduce["attemptId"] = reduce["taskid"].replace("task", "attempt") + "_0"
    between = [
        ("MAP_ATTEMPT_STARTED", failed), ("MAP_ATTEMPT_FAILED", {**failed, **ended}),
        ("REDUCE_ATTEMPT_STARTED", reduce),
        ("REDUCE_ATTEMPT_KILLED", {**reduce, **ended, "counters": None}),
        ("REDUCE_ATTEMPT_STARTED", {**reduce, "attemptId": reduce["attemptId"][:-1] + "1"}),
    ]  # fmt: skip
    found = read(form(job_events(1, 0, between)))
    _, lost, killed, endless = found.attempts
    assert (lost.state, lost.reason, lost.hdfs_read_bytes) == ("FAILED", "Error: disk", 1000)
    assert (killed.state, killed.shuffle_finished_ms, killed.cpu_ms) == ("KILLED", 0, 0)
    assert (endless.state, endless.finished_ms) == ("KILLED", 0)
    assert [stage.failed_attempts for stage in found.job.stages] == [1, 0]
    assert found.job.phases["map"] == 4.0


@FORMS
def test_a_killed_job_has_no_counters_of_its_own(form):
    *events, _ = job_events(1, 1)
    found = read(form([*events, ("JOB_KILLED", {"jobid": JOB, "finishTime": BEGAN_MS + 1, "jobStatus": "KILLED"})]))
    assert (found.job.state, found.job.counters) == ("KILLED", {})


@FORMS
@pytest.mark.parametrize("end", ["KILLED"])
def test_a_job_that_ended_before_it_began_is_told_as_that_and_not_as_a_file_cut_short(form, end):
    submitted = next(event for event in job_events(1, 1) if event[0] == "JOB_SUBMITTED")
    found = read(form([submitted, (f"JOB_{end}", {"jobid": JOB, "finishTime": BEGAN_MS + 1, "jobStatus": end})]))
    assert (found.job.state, found.job.tasks, found.attempts, found.doubts) == (end, 0, (), ())


@FORMS
def test_a_file_that_is_cut_short_or_of_another_job_is_refused(form):
    whole = form(job_events(2, 1))
    for end in (len(whole) - 200, len(whole) // 2, 5000, 20, 0):
        with pytest.raises(AssayError, match=f"the history file of {JOB} is cut short or garbled"):
            read(whole[:end])
    with pytest.raises(AssayError, match="it is of job_1795226383840_0042"):
        read_history(io.BytesIO(whole), JobReference(name="x", id="job_1_0001"))
    with pytest.raises(AssayError, match="begins with 'PK"):
        read(b"PK\x03\x04 a zip file")


@pytest.mark.slow
@FORMS
def test_ten_thousand_tasks_take_seconds(form):
    content = form(job_events(9_900, 100))
    began_s = time.process_time()  # of the processor: others may keep it busy
    found = read(content)
    seconds = time.process_time() - began_s
    print(f"{form.__name__}: {len(content) / 1e6:.0f} MB, 10,000 tasks in {seconds:.1f} s")  # noqa: T201 - with -s
    assert len(found.attempts) == 10_000
    assert found.doubts == ()
    assert seconds < 15


def test_a_file_is_found_where_the_server_puts_it(tmp_path):
    content = as_json(job_events(1, 1))
    serial = f"{date.today():%Y/%m/%d}/000000"  # noqa: DTZ011 - the server's days are local
    for folder in ("", serial, f"done/{serial}", "somebody", "done_intermediate/somebody"):
        place = tmp_path / (folder.replace("/", "-") or "flat")
        (place / folder).mkdir(parents=True)
        (place / folder / f"{JOB}-1-root-made-2-1-1-SUCCEEDED-root.default-3.jhist").write_bytes(content)
        files = HistoryFiles(str(place), tmp_path / "no-hadoop", {}, patience_s=0)
        assert files.read(REFERENCE).job.id == JOB
        with pytest.raises(AssayError, match="no file of it that this user may read is in"):
            files.read(JobReference(name="x", id="job_1795226383840_0043"))


@pytest.mark.parametrize("name", ["hist[2023]", "h?st", "*", "a{b,c}"])
def test_a_folder_s_name_is_no_pattern(tmp_path, name):
    """Beside it lies a folder that it would match, with another file of the same job."""
    content = as_json(job_events(1, 1))
    for folder, text in ((name, content), ("hist2", b"other"), ("hist", b"other"), ("ab", b"other")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{JOB}-1-root-made-2-1-1-SUCCEEDED-root.default-3.jhist").write_bytes(text)
    assert HistoryFiles(str(tmp_path / name), tmp_path / "no-hadoop", {}, patience_s=0).read(REFERENCE).job.id == JOB


def test_one_on_a_file_system_of_hadoop_is_read_through_its_client(tmp_path):
    """The client here does as `hadoop fs` does with one of the patterns known."""
    (tmp_path / "file").write_bytes(as_json(job_events(1, 1)))
    hadoop = tmp_path / "hadoop"
    hadoop.write_text(
        f'#!/bin/sh\ncase "$2" in -ls) for p in "$@"; do case $p in *{JOB}-*) echo hdfs:/done/a.jhist; break; esac; done;'
        f' echo "ls: no match" >&2; exit 1;; -cat) [ "$3" = hdfs:/done/a.jhist ] && cat {tmp_path}/file;; esac\n'
    )
    hadoop.chmod(0o755)
    files = HistoryFiles("hdfs:///done/", hadoop, dict(os.environ), patience_s=0)
    assert files.read(REFERENCE).job.id == JOB
    with pytest.raises(AssayError, match="is in hdfs:///done"):
        files.read(JobReference(name="x", id="job_1795226383840_0043"))
    hadoop.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    with pytest.raises(AssayError, match=r"is in hdfs:///hist\[2023\]"):
        HistoryFiles("hdfs:///hist[2023]", hadoop, dict(os.environ), patience_s=0).read(REFERENCE)
    assert r"hdfs:///hist\[2023\]/" in (tmp_path / "calls").read_text()

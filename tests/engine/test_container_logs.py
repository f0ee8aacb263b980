"""Proves that attempts whose logs are out of reach, missing or damaged are left out, each with a doubt, never a crash."""

import shutil

import pytest

from assay.engine.task_logs import read_phases
from tests.engine.captures import LOGS, attempt_of, history_of, in_folder

JOB = "application_1795242312674_0002"


@pytest.fixture
def logs(tmp_path):
    shutil.copytree(LOGS / JOB, tmp_path / JOB)
    return in_folder(tmp_path)


@pytest.fixture(scope="module")
def history():
    return history_of("speculation")


def with_logs(history):
    return [attempt_of(history, end) for end in ("m_000001_0", "r_000000_0", "r_000001_0")]


def test_all_logs_there_leaves_no_doubt(history, logs):
    found = read_phases(logs, with_logs(history))
    assert len(found.phases) == 3
    assert found.doubts == ()


def test_an_existing_cluster_keeps_its_logs_to_itself(history):
    found = read_phases([], history.attempts)
    assert found.phases == ()
    assert [doubt.kind for doubt in found.doubts] == ["task-logs-elsewhere"]
    assert read_phases([], []).doubts == ()


def test_lost_logs_are_one_doubt_but_a_killed_attempt_that_never_logged_is_none(history, logs):
    found = read_phases(logs, [*with_logs(history), attempt_of(history, "m_000001_1")])
    assert found.doubts == ()
    found = read_phases(logs, history.attempts)
    (doubt,) = found.doubts
    assert (doubt.kind, len(found.phases)) == ("task-log-missing", 3)
    assert doubt.what.startswith("5 of 9 task attempts left no log")


def test_a_log_directory_that_is_gone_is_a_doubt(history, tmp_path):
    found = read_phases(in_folder(tmp_path / "nowhere"), with_logs(history))
    assert [doubt.kind for doubt in found.doubts] == ["task-log-missing"]


def test_a_log_cut_short_costs_that_attempt_only(history, logs):
    file = logs[0].container_logs / JOB / attempt_of(history, "m_000001_0").container / "syslog"
    file.write_bytes(file.read_bytes()[:6000])
    found = read_phases(logs, with_logs(history))
    (doubt,) = found.doubts
    assert (doubt.kind, len(found.phases)) == ("task-log-unclear", 2)
    assert "1 of 3 task attempts can't be used" in doubt.what
    assert "breaks off before its task's end" in doubt.what


def test_a_log_full_of_rubbish_costs_that_attempt_only(history, logs):
    file = logs[0].container_logs / JOB / attempt_of(history, "m_000001_0").container / "syslog"
    file.write_bytes(b"\xff\x00\n2026-13-45 99:00:00,000 INFO [main] x.MapTask: Processing split\n" * 50)
    found = read_phases(logs, with_logs(history))
    assert [doubt.kind for doubt in found.doubts] == ["task-log-unclear"]
    assert len(found.phases) == 2


def test_a_container_that_history_does_not_name_has_no_log(history, logs):
    nameless = attempt_of(history, "m_000001_0").model_copy(update={"container": ""})
    found = read_phases(logs, [nameless])
    assert [doubt.kind for doubt in found.doubts] == ["task-log-missing"]


def test_a_master_that_was_restarted_names_its_containers_by_epoch(history, logs):
    attempt = attempt_of(history, "m_000001_0")
    container = attempt.container.replace("container_", "container_e17_")
    folder = logs[0].container_logs / JOB
    (folder / attempt.container).rename(folder / container)
    assert len(read_phases(logs, [attempt.model_copy(update={"container": container})]).phases) == 1


def master_log(logs, history, *results):
    """The log of the job's master with these answers to its reducer's questions whether it may commit."""
    reducer = attempt_of(history, "r_000000_0")
    folder = logs[0].container_logs / JOB / f"{reducer.container.rpartition('_')[0]}_000001"
    folder.mkdir(exist_ok=True)
    stamp = "2026-11-21 06:25:42,472 INFO [IPC Server handler 8] org.apache.hadoop.mapreduce.v2.app.job.impl.TaskImpl"
    lines = [f"{stamp}: Result of canCommit for {reducer.attempt}:{result}\n" for result in results]
    (folder / "syslog").write_text("".join(lines))
    return reducer


def test_a_commit_that_was_put_off_is_counted_from_the_masters_log(history, logs):
    reducer = master_log(logs, history, "false", "true")
    phases = {phase.attempt: phase for phase in read_phases(logs, with_logs(history)).phases}
    assert phases[reducer.attempt].commits_put_off == 1
    assert phases[attempt_of(history, "r_000001_0").attempt].commits_put_off == 0


def test_without_the_masters_log_nothing_is_said_of_commits(history, logs):
    for folder in (logs[0].container_logs / JOB).glob("*_000001"):
        shutil.rmtree(folder)
    assert {phase.commits_put_off for phase in read_phases(logs, with_logs(history)).phases} == {None}


@pytest.mark.parametrize(("seconds", "kinds"), [(3, ["commits-put-off"]), (30, [])])
def test_a_short_job_whose_commit_was_put_off_has_a_doubt(history, logs, seconds, kinds):
    reducer = master_log(logs, history, "false", "true")
    short = reducer.model_copy(update={"finished_ms": reducer.started_ms + 1000 * seconds})
    found = read_phases(logs, [short])
    assert [doubt.kind for doubt in found.doubts] == kinds

"""Proves that job history is read as the JobHistoryServer gave it: answers captured from Hadoop 3.4.2, served again."""

import pytest

from assay.engine.job_history_server import active_seconds, task_attempt
from assay.model.engine import JobReference
from assay.model.errors import AssayError
from assay.model.task import TaskAttempt
from tests.engine.captures import attempt_of, captured, history_of, serving

CAPTURED, JOB = captured("friend-lists")


@pytest.fixture
def history():
    with serving(CAPTURED) as server:
        yield server


def test_a_job_has_the_servers_averages_and_counters(history):
    job = history.read(JobReference(name="friend-lists", id=JOB)).job
    told = CAPTURED[JOB]["job"]
    assert (job.id, job.name, job.state, job.stages[0].tasks, job.stages[-1].tasks) == (
        JOB,
        "friend-lists",
        "SUCCEEDED",
        2,
        2,
    )
    assert job.phases["map"] == told["avgMapTime"] / 1000
    assert job.phases["shuffle"] == told["avgShuffleTime"] / 1000
    assert job.elapsed_s == (told["finishTime"] - told["startTime"]) / 1000
    assert job.submitted_s > job.elapsed_s
    assert job.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]["FILE_BYTES_WRITTEN"] == 8439022


def test_the_attempts_add_up_to_the_job(history):
    found = history.read(JobReference(name="friend-lists", id=JOB))
    assert [attempt.stage for attempt in found.attempts].count("map") == 2
    assert [attempt.stage for attempt in found.attempts].count("reduce") == 2
    files = found.job.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]
    assert sum(attempt.local_written_bytes for attempt in found.attempts) == files["FILE_BYTES_WRITTEN"]
    assert sum(attempt.hdfs_read_bytes for attempt in found.attempts) == files["HDFS_BYTES_READ"]
    reduces = [attempt for attempt in found.attempts if attempt.stage == "reduce"]
    for attempt in reduces:
        assert attempt.started_ms <= attempt.shuffle_finished_ms <= attempt.merge_finished_ms <= attempt.finished_ms
        assert attempt.shuffled_bytes > 0
        assert attempt.node == "localhost"


def test_a_job_says_how_long_its_tasks_ran(history):
    job = history.read(JobReference(name="friend-lists", id=JOB)).job
    assert job.active_s is not None
    assert 0.5 * job.elapsed_s < job.active_s < job.elapsed_s


def test_seconds_with_several_tasks_count_once_and_those_without_any_not():
    def attempt(started_ms, finished_ms):
        return TaskAttempt.model_construct(started_ms=started_ms, finished_ms=finished_ms)

    spans = [attempt(1000, 3000), attempt(9000, 9500), attempt(2000, 4000), attempt(2500, 2600), attempt(4000, 5000)]
    assert active_seconds(spans) == 4.5
    assert active_seconds([attempt(1000, 0)]) is None
    assert active_seconds([]) is None


def test_the_attempts_task_counters_add_up_to_the_job(history):
    found = history.read(JobReference(name="friend-lists", id=JOB))
    task = found.job.counters["org.apache.hadoop.mapreduce.TaskCounter"]
    for field, counter in {
        "cpu_ms": "CPU_MILLISECONDS", "gc_ms": "GC_TIME_MILLIS", "physical_memory_bytes": "PHYSICAL_MEMORY_BYTES",
        "map_output_bytes": "MAP_OUTPUT_BYTES", "map_output_materialized_bytes": "MAP_OUTPUT_MATERIALIZED_BYTES",
        "fetched_map_outputs": "SHUFFLED_MAPS", "merged_map_outputs": "MERGED_MAP_OUTPUTS",
        "failed_fetches": "FAILED_SHUFFLE", "spilled_records": "SPILLED_RECORDS",
    }.items():  # fmt: skip
        assert sum(getattr(attempt, field) for attempt in found.attempts) == task[counter], field
    assert sum(a.input_records for a in found.attempts if a.stage == "map") == task["MAP_INPUT_RECORDS"]
    assert sum(a.output_records for a in found.attempts if a.stage == "reduce") == task["REDUCE_OUTPUT_RECORDS"]


def test_a_failed_and_a_killed_attempt_are_told_apart_from_those_that_took_their_place():
    found = history_of("failed-and-killed")
    assert (found.job.state, found.job.stages[0].failed_attempts, found.job.stages[0].tasks, len(found.attempts)) == (
        "SUCCEEDED",
        1,
        4,
        7,
    )
    killed, failed = attempt_of(found, "m_000000_0"), attempt_of(found, "m_000001_0")
    assert (killed.state, failed.state) == ("KILLED", "FAILED")
    assert killed.reason.startswith("Kill task attempt attempt_1795242312674_0003_m_000000_0 received from")
    assert failed.reason.startswith("Fail task attempt attempt_1795242312674_0003_m_000001_0 received from")
    assert (killed.finished_ms - killed.started_ms, failed.finished_ms - failed.started_ms) == (5260, 4887)
    assert (killed.input_records, killed.local_written_bytes) == (0, 0)
    assert not killed.reason.startswith("Speculation:")
    for end in ("m_000000_1", "m_000001_1"):
        assert (attempt_of(found, end).state, attempt_of(found, end).reason) == ("SUCCEEDED", "")
    assert attempt_of(found, "m_000000_1").task == killed.task == "task_1795242312674_0003_m_000000"
    assert found.doubts == ()


def test_an_attempt_that_failed_by_itself_says_its_exception():
    found = history_of("failed-job")
    assert (found.job.state, found.job.stages[0].failed_attempts) == ("FAILED", 3)
    assert attempt_of(found, "m_000000_1").reason == "Error: java.lang.RuntimeException: Intentional map failure"
    assert attempt_of(found, "m_000001_1").reason == "Task KILL is received. Killing attempt!"
    assert found.doubts == ()


def test_a_failed_job_has_the_words_of_its_first_failed_attempt():
    answers, job = captured("failed-job")
    with serving(answers) as server:
        said = server.failure(job)
    assert said[0] == "Error: java.lang.RuntimeException: Intentional map failure"
    assert said[1].startswith("\tat org.apache.hadoop.mapreduce.FailJob$FailMapper.map(")
    with serving(CAPTURED) as server:
        assert server.failure(JOB) == []


def test_a_speculative_attempt_that_was_outrun_is_known_as_such():
    found = history_of("speculation")
    first, second = attempt_of(found, "m_000001_0"), attempt_of(found, "m_000001_1")
    assert (first.state, second.state) == ("SUCCEEDED", "KILLED")
    assert second.reason.startswith("Speculation:")
    assert not first.reason
    assert first.started_ms < second.started_ms < first.finished_ms < second.finished_ms
    assert second.container == "container_1795242312674_0002_01_000010"
    assert found.doubts == ()


def test_of_a_reducer_that_failed_no_end_of_phases_is_believed():
    """History gives a failed reducer's end as the end of its shuffle and of its merge, too."""
    found = history_of("lost-output")
    failed, done = attempt_of(found, "r_000000_0"), attempt_of(found, "r_000000_3")
    assert (failed.state, failed.shuffle_finished_ms, failed.merge_finished_ms) == ("FAILED", 0, 0)
    assert failed.reason.startswith("Error: org.apache.hadoop.mapreduce.task.reduce.Shuffle$ShuffleError")
    assert (done.merge_finished_ms - done.shuffle_finished_ms, done.finished_ms - done.merge_finished_ms) == (22, 344)
    assert attempt_of(found, "m_000001_0").reason.startswith("Too many fetch failures.")
    assert found.doubts == ()


def test_a_job_that_the_server_learns_of_late_is_waited_for():
    with serving(CAPTURED, refuse=3) as server:
        assert server.read(JobReference(name="friend-lists", id=JOB)).job.id == JOB


def test_a_job_that_never_appears_is_an_error_with_its_address():
    with serving(CAPTURED, patience_s=0.2) as server, pytest.raises(AssayError, match="did not answer .*job_9_0001"):
        server.read(JobReference(name="lost", id="job_9_0001"))


@pytest.mark.parametrize(("name", "why"), [("cut-short", "Name is null"), ("cut-tiny", "Could not load history file")])
def test_a_history_file_cut_short_is_an_error_that_says_so(name, why):
    """Captured after the file of a finished job had been cut in the middle, and in its first line."""
    answers, job = captured(name)
    message = f"has no data of {job} .*{why}.*its history file may be cut short"
    with serving(answers, patience_s=0.0) as server, pytest.raises(AssayError, match=message):
        server.read(JobReference(name="sort", id=job))


def test_attempts_of_a_history_cut_short_have_no_end():
    answers, job = captured("cut-short")
    (attempt,) = answers[f"{job}/tasks/task_{job[4:]}_r_000000/attempts"]["taskAttempts"]["taskAttempt"]
    found = task_attempt(job, attempt, {})
    assert (found.state, found.finished_ms, found.shuffle_finished_ms, found.merge_finished_ms) == ("KILLED", 0, 0, 0)
    assert "state missing from History" in found.reason


def test_answers_that_lack_what_every_history_has_are_an_error():
    answers = {JOB: {"job": {"id": JOB, "state": "SUCCEEDED"}}, f"{JOB}/counters": {}, f"{JOB}/tasks": {}}
    with serving(answers) as server, pytest.raises(AssayError, match=f"the history of {JOB} is incomplete"):
        server.read(JobReference(name="cut", id=JOB))


def test_answers_of_other_types_are_an_error():
    told = {**CAPTURED[JOB]["job"], "submitTime": "soon"}
    with serving({**CAPTURED, JOB: {"job": told}}) as server, pytest.raises(AssayError, match="submitted_ms"):
        server.read(JobReference(name="cut", id=JOB))


def test_an_answer_that_is_cut_off_is_an_error():
    answers = {JOB: {"HTTP": 200, "body": '{"job": {"id"'}}
    with serving(answers, patience_s=0.0) as server, pytest.raises(AssayError, match="is not JSON"):
        server.read(JobReference(name="cut", id=JOB))


def test_tasks_that_a_history_does_not_tell_of_are_a_doubt():
    answers, job = captured("speculation")
    tasks = answers[f"{job}/tasks"]["tasks"]["task"]
    with serving({**answers, f"{job}/tasks": {"tasks": {"task": tasks[2:]}}}) as server:
        (doubt,) = server.read(JobReference(name="sort", id=job)).doubts
    assert doubt.kind == "history-incomplete"
    assert "lacks 2 of its 8 tasks" in doubt.what


def test_an_attempt_without_counters_has_zeroes():
    """A killed attempt has neither phases nor counters."""
    attempt = {"id": "attempt_1_0001_r_000000_0", "type": "REDUCE", "state": "KILLED", "startTime": 5, "finishTime": 9}
    found = task_attempt("job_1_0001", attempt, {})
    assert (found.state, found.shuffled_bytes, found.shuffle_finished_ms) == ("KILLED", 0, 0)

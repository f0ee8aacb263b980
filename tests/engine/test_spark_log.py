"""Event logs as Spark 3.5.6 wrote them: every form is read, what is missing is said, and times add up."""

import gzip
import json
import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from assay.engine.spark_log import files_of, read_application
from assay.engine.spark_tasks import COUNTERS, PHASES, SparkAttempt, sums
from assay.model.engine import JobReference, amounts_in
from assay.model.errors import AssayError
from assay.stats.tasks import critical_path

LOGS = Path(__file__).parents[1] / "fixtures" / "spark"
KILLED = LOGS / "killed"
ROLLED = LOGS / "eventlog_v2_local-1795708018337"
ANY = JobReference(name="", id="")
WHOLE = [KILLED, ROLLED, *(LOGS / name for name in ("spill.zstd", "failing.lz4", "dataframe.snappy"))]


def read(log):
    return read_application(log, ANY)


def changed(tmp_path, change):
    """A copy of a plain log, each event of which is changed, or left out where nothing comes back."""
    events = [change(json.loads(line)) for line in KILLED.read_text().splitlines()]
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events if event))
    return log


def doubts_of(history):
    return {doubt.kind: doubt.what for doubt in history.doubts}


@pytest.mark.parametrize("log", WHOLE, ids=lambda log: log.name)
def test_a_whole_log_gives_every_task(log):
    history = read(log)
    assert history.job.state == "SUCCEEDED"
    assert history.job.submitted_ms <= history.job.started_ms < history.job.finished_ms
    done = {attempt.task for attempt in history.attempts if attempt.state == "SUCCEEDED"}
    assert len(done) == history.job.tasks > 0
    assert set(doubts_of(history)) == {"event-log-of-other-spark"}


@pytest.mark.parametrize("log", WHOLE, ids=lambda log: log.name)
def test_a_tasks_phases_add_up_to_its_time_and_the_path_to_the_applications(log):
    history = read(log)
    for attempt in history.attempts:
        ends = [attempt.started_ms, *(ended_ms for _, ended_ms in attempt.phase_ends())]
        assert ends == sorted(ends)
        assert ends[-1] == attempt.finished_ms
        if attempt.run_ms:
            assert [phase for phase, _ in attempt.phase_ends()] == list(PHASES)
            lengths = dict(zip(PHASES, (end - begin for begin, end in pairwise(ends)), strict=True))
            assert lengths["fetch wait"] == attempt.fetch_wait_ms
            assert lengths["computing"] + lengths["fetch wait"] + lengths["shuffle write"] == attempt.run_ms
    path = critical_path(history.job, history.attempts)
    assert sum(part.seconds for part in path.parts) == pytest.approx(history.job.submitted_s)


def test_amounts_are_those_of_all_attempts():
    history = read(LOGS / "spill.zstd")
    attempts = history.attempts
    assert history.counted["shuffled_bytes"] == sum(attempt.shuffled_bytes for attempt in attempts) == 2_849_509
    assert history.counted["output_records"] == 240_000
    spilled = sum(attempt.spilled_disk_bytes for attempt in attempts)
    written = sum(attempt.shuffle_write_bytes for attempt in attempts)
    assert history.counted["local_written_bytes"] == spilled + written
    assert spilled > 0 < sum(attempt.spilled_memory_bytes for attempt in attempts)
    assert history.counted == amounts_in(history.job.counters, COUNTERS)


def test_reads_of_persisted_partitions_are_no_reads_of_the_input():
    counted = read(ROLLED).counted
    assert "store_read_bytes" not in counted
    assert "input_records" not in counted
    assert read(LOGS / "dataframe.snappy").counted["input_records"] == 3000


def test_records_of_the_input_are_those_of_one_stage_that_reads_it_and_of_tasks_that_ended_well():
    reads = SparkAttempt(
        job="a", attempt="a_0.0_0.0", stage="stage 0", node="n", state="SUCCEEDED", started_ms=1, finished_ms=2,
        input_records=10, output_records=5,
    )  # fmt: skip
    failed, lost = reads.model_copy(update={"state": "FAILED"}), reads.model_copy(update={"lost": True})
    counted = sums([reads, failed, lost], persisted=False)
    assert (counted["input_records"], counted["output_records"]) == (10, 5)
    again = reads.model_copy(update={"stage": "stage 1"})
    assert "input_records" not in sums([reads, again], persisted=False)
    assert "input_records" not in sums([reads], persisted=True)
    assert "input_records" not in sums([], persisted=False)


def test_a_stage_is_called_by_its_number_and_described_by_its_job_and_spark():
    history = read(KILLED)
    assert [stage.name for stage in history.job.stages] == ["stage 0", "stage 1", "stage 2", "stage 3"]
    named = {attempt.stage: attempt.stage_name for attempt in history.attempts}
    assert named["stage 1"].startswith("job 0: count at ")
    assert named["stage 3"].startswith("job 1: count at ")


def test_an_executor_that_is_lost_and_what_is_done_again_for_it():
    history = read(KILLED)
    assert history.job.counters["executors"] == {"added": 2, "lost": 1}
    failed = [attempt for attempt in history.attempts if attempt.state == "FAILED"]
    assert [attempt.reason.partition(":")[0] for attempt in failed] == [
        "ExecutorLostFailure", "FetchFailed", "FetchFailed",
    ]  # fmt: skip
    again = [attempt for attempt in history.attempts if attempt.task == failed[0].task]
    assert [attempt.state for attempt in again] == ["FAILED", "FAILED", "SUCCEEDED"]
    assert {stage.name: (stage.tasks, stage.failed_attempts) for stage in history.job.stages}["stage 3"] == (3, 3)


def test_an_output_that_is_lost_had_ended_well(tmp_path):
    lines = KILLED.read_text().splitlines()
    (end,) = [line for line in lines if '"TaskEnd"' not in line and '"Task ID":4,' in line and "TaskEnd" in line]
    lost = json.loads(end) | {"Task End Reason": {"Reason": "Resubmitted"}, "Task Metrics": None}
    log = tmp_path / "log"
    log.write_text("\n".join([*lines[:-1], json.dumps(lost, separators=(",", ":")), lines[-1]]) + "\n")
    (attempt,) = [attempt for attempt in read(log).attempts if attempt.output_lost]
    assert (attempt.state, attempt.reason) == ("SUCCEEDED", "Resubmitted")
    assert attempt.shuffle_write_bytes > 0


def test_a_failed_job_fails_its_application(tmp_path):
    def fail(event):
        ended = event["Event"] == "SparkListenerJobEnd" and event["Job ID"] == 1
        return event | {"Job Result": {"Result": "JobFailed"}} if ended else event

    assert read(changed(tmp_path, fail)).job.state == "FAILED"


@pytest.mark.parametrize("log", WHOLE[2:], ids=lambda log: log.name)
def test_a_compressed_log_that_is_cut_short_gives_what_is_there(log, tmp_path):
    content = log.read_bytes()
    cut = tmp_path / log.name
    cut.write_bytes(content[:-200])
    history = read(cut)
    whole = read(log)
    assert 0 < len(history.attempts) <= len(whole.attempts)
    assert history.job.state == "UNKNOWN"
    assert "it has no end" in doubts_of(history)["history-incomplete"]
    assert history.job.started_ms < history.job.finished_ms <= whole.job.finished_ms


def test_a_plain_log_that_is_cut_short_gives_tasks_that_had_not_ended(tmp_path):
    content = KILLED.read_bytes()
    cut = tmp_path / "log"
    cut.write_bytes(content[: content.rindex(b"SparkListenerTaskEnd") + 900])
    history = read(cut)
    assert [attempt.state for attempt in history.attempts if not attempt.finished_ms] == ["KILLED"]
    assert "its last line has no end" in doubts_of(history)["history-incomplete"]


@pytest.mark.parametrize("codec", ["zstd", "lz4", "gzip"])
def test_a_log_that_somebody_else_compressed_is_read_whatever_it_is_called(tmp_path, codec):
    log = tmp_path / "log"
    with pa.CompressedOutputStream(str(log), codec) as packed:
        packed.write(KILLED.read_bytes())
    assert read(log).attempts == read(KILLED).attempts


def test_damaged_lines_are_counted(tmp_path):
    log = tmp_path / "log"
    lines = KILLED.read_text().splitlines()
    broken = [
        line[: len(line) // 2] if number == 30 else line.replace('"Host"', '"Hast"') if number == 40 else line
        for number, line in enumerate(lines)
    ]
    assert "TaskEnd" in lines[30]
    log.write_text("\n".join(broken) + "\n")
    assert "of its lines can't be read" in doubts_of(read(log))["history-incomplete"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ((LOGS / "failing.lzf").read_bytes(), "compressed with lzf.*zstd, lz4 or snappy"),
        (b"BZh91AY&SY something", "no event log of Spark, or compressed in a way that can't be read"),
        (b"", "is empty"), (b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n', "no event of an application"),
        (b"{}\n", "no event of an application"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_refused_in_a_sentence(content, words, tmp_path):
    log = tmp_path / "log"
    log.write_bytes(content)
    for source in (log, [content]):
        with pytest.raises(AssayError, match=words) as error:
            read(source)
        assert "\n" not in str(error.value)


def test_a_log_that_is_not_there_or_anothers_is_refused(tmp_path):
    with pytest.raises(AssayError, match="can't be read: there is no such file"):
        read(tmp_path / "log")
    with pytest.raises(AssayError, match="the event log of application_1_0001 is of app-"):
        read_application(KILLED, JobReference(name="count", id="application_1_0001"))
    (tmp_path / "eventlog_v2_a").mkdir()
    with pytest.raises(AssayError, match="has no file of events"):
        read(tmp_path / "eventlog_v2_a")


@pytest.mark.parametrize(
    ("version", "master", "words"),
    [
        ("2.4.8", "yarn", "was run by Spark 2.4.8"), ("4.0.1", "yarn", "was run by Spark 4.0.1"),
        ("3.5.6", "local[4]", "was run in local mode, within its driver"),
        ("3.3.0", "spark://master:7077", "was run on a standalone cluster"), ("3.5.6", "k8s://https://a", "was run on k8s"),
        ("3.5.6", "yarn", ""),
    ],
)  # fmt: skip
def test_other_versions_and_deployments_are_read_with_a_doubt(version, master, words, tmp_path):
    def other(event):
        if event["Event"] == "SparkListenerLogStart":
            return event | {"Spark Version": version}
        if event["Event"] == "SparkListenerEnvironmentUpdate":
            return event | {"Spark Properties": {"spark.master": master}}
        if version.startswith("2") and "Task Info" in event:  # what Spark 2 does not write
            event["Task Info"].pop("Partition ID", None)
            event.pop("Task Executor Metrics", None)
        return event

    history = read(changed(tmp_path, other))
    assert doubts_of(history).get("event-log-of-other-spark", "").endswith(words)
    assert bool(words) == bool(history.doubts)
    assert history.job.tasks == read(KILLED).job.tasks


def test_an_executor_on_yarn_has_a_container(tmp_path):
    def in_container(event):
        if event["Event"] == "SparkListenerExecutorAdded":
            number = int(event["Executor ID"]) + 2
            event["Executor Info"]["Attributes"] = {"CONTAINER_ID": f"container_1_0001_01_{number:06d}"}
        return event

    attempts = read(changed(tmp_path, in_container)).attempts
    assert {attempt.container for attempt in attempts} == {"container_1_0001_01_000002", "container_1_0001_01_000003"}


def test_an_application_begins_with_its_master_where_the_log_tells(tmp_path):
    lines = KILLED.read_text().splitlines()
    begun = {"Event": "org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded", "time": 1795708075000}
    added = [json.dumps({**begun, "processId": name}, separators=(",", ":")) for name in ("other", "yarn-am")]
    log = tmp_path / "log"
    log.write_text("\n".join([*lines[:8], *added, *lines[8:]]) + "\n")
    before, job = read(KILLED).job, read(log).job
    assert (before.submitted_ms, before.started_ms) == (job.submitted_ms, job.submitted_ms)
    assert job.started_ms == 1795708075000
    parts = critical_path(job, read(log).attempts).parts
    assert parts[0].kind == "master"
    assert (parts[0].started_ms, parts[0].finished_ms) == (job.submitted_ms, job.started_ms)


def test_a_rolled_log_is_read_in_its_order_from_the_last_compacted_file_on(tmp_path):
    folder = tmp_path / "eventlog_v2_app"
    folder.mkdir()
    lines = KILLED.read_bytes().splitlines(keepends=True)
    for number, begin, end in ((9, 0, 20), (10, 20, 40), (11, 40, len(lines)), (12, len(lines), len(lines))):
        (folder / f"events_{number}_app").write_bytes(b"".join(lines[begin:end]))
    (folder / "appstatus_app").touch()
    assert read(folder) == read(KILLED)
    shutil.copy(folder / "events_9_app", folder / "events_10_app.compact")
    assert [file.name for _, file in files_of(folder)] == ["events_10_app.compact", "events_11_app", "events_12_app"]
    assert "were removed from it" in doubts_of(read(folder))["history-incomplete"]
    (folder / "events_10_app.compact").unlink()
    (folder / "events_11_app").unlink()
    assert "1 of its files is missing" in doubts_of(read(folder))["history-incomplete"]


def test_pieces_and_gzip_are_read_as_the_file_is(tmp_path):
    content = KILLED.read_bytes()
    assert read(content[at : at + 1000] for at in range(0, len(content), 1000)) == read(KILLED)
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(content))
    assert read(packed) == read(KILLED)


def test_an_attempt_without_metrics_has_one_phase():
    attempt = SparkAttempt(
        job="a", attempt="a_0.0_0.0", stage="stage 0", node="n", state="FAILED", started_ms=1000, finished_ms=3000
    )
    assert attempt.phase_ends() == [("computing", 3000)]
    assert attempt.phase_spans() == [("computing", 1000, 3000)]

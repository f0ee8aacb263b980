"""Event logs as past jobs: sums, stages in sequence, bounds, what is missing, and what rules of others say."""

import gzip
import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from assay.cli.context import find_installation
from assay.engine.past.formats import FORMS, attempts_of, is_history, read_history_of, suggestions, why_no_history
from assay.engine.past.job import Work, paths_in_store
from assay.engine.past.spark import RECORDS_ALONE, PastApplication, read_event_log
from assay.engine.spark_log import Sources, is_rolled, paths_of_plan, schemes_of_plan
from assay.engine.spark_persisted import MAY_BE_ON_DRIVES
from assay.model.engine import HADOOP_JOBS
from assay.triage.bounds import bound_of, drive_loads
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
    (job,) = read_history_of(LOGS / name)
    assert isinstance(job, PastApplication)
    assert job.counts, job.missing
    assert (job.engine, job.state) == ("spark", "SUCCEEDED")
    assert FORMS[job.engine].program != HADOOP_JOBS
    attempts = [attempt for attempt in attempts_of(LOGS / name) if attempt.finished_ms]
    assert job.whole.tasks == len(attempts)
    assert job.whole.cpu_ms == sum(attempt.cpu_ms for attempt in attempts)
    assert job.whole.fetched == sum(attempt.shuffled_bytes for attempt in attempts)
    assert 0 <= bound_of(job, drives()).seconds <= job.tasks_s <= job.elapsed_s
    assert list(suggestions(job)) == []


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
    loads = drive_loads(persisted, drives("9xnvme"))
    assert sum(load.seconds for load in loads) == pytest.approx(persisted.tasks_s)
    assert made(tmp_path, MadeStage(input_records=40, input_bytes=0)).uncounted == RECORDS_ALONE
    assert made(tmp_path, MadeStage(output_records=40, output_bytes=0)).uncounted == RECORDS_ALONE
    assert made(tmp_path, MadeStage(input_records=40, input_bytes=40)).uncounted == ""


def test_two_rules_of_others(tmp_path):
    small = made(tmp_path, MadeStage(fetched_bytes=GB, fetch_wait=0.4, shuffle_write_bytes=499 * GB))
    large = made(
        tmp_path, MadeStage(fetched_bytes=GB, fetch_wait=0.6, shuffle_write_bytes=400 * GB, spilled_disk_bytes=101 * GB)
    )
    assert [(rule.rule, rule.asks) for rule in small.other_rules] == [
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
    found = {change.kind: change for change in suggestions(job)}
    assert list(found) == ["spills", "compression", "small pieces"]
    assert found["spills"].counter == "Disk Bytes Spilled 953.7 MiB, 953.7 MiB of it in stage 0"
    assert "40,000 blocks of 24.4 KiB" in found["small pieces"].counter
    assert suggestions(made(tmp_path, MadeStage(fetched_bytes=GB, fetched_blocks=100))) == []


def test_waits_for_executors_are_those_of_the_masters_heartbeats(tmp_path):
    assert made(tmp_path, MadeStage()).polls_s == 3.0
    grown = made(
        tmp_path, MadeStage(), settings={"spark.dynamicAllocation.enabled": "true"}, executors_at_s=(1, 2, 20, 40)
    )
    assert grown.polls_s == 3 * 4.0
    assert made(tmp_path, MadeStage(), settings={"spark.master": "local[2]"}).polls_s == 0.0


def lines_of(tmp_path, application):
    """The file and the lines of an application's log."""
    log = write_event_log(tmp_path, application)
    return log, log.read_text().splitlines(keepends=True)


def test_what_is_missing_is_said(tmp_path):
    log, lines = lines_of(tmp_path, MadeApplication(stages=(MadeStage(),)))

    def missing(kept):
        log.write_text("".join(kept))
        job = read_event_log(log)
        assert not job.counts
        return " ".join(job.missing)

    assert missing([line for line in lines if '"Task ID":2' not in line]).startswith(
        "1 of its tasks: Spark leaves events"
    )
    assert "1 of its lines can't be read" in missing([*lines[:5], "{broken\n", *lines[5:]])
    failed = [line.replace("JobSucceeded", "JobFailed") for line in lines]
    assert missing(failed).startswith("a good end: its only job failed")
    without_tasks = [line for line in lines if "Task" not in line and "Stage" not in line]
    assert missing(without_tasks).startswith("its tasks: it ran none")
    log.write_bytes(b"ZV\x01\0")
    assert read_event_log(log).missing[0].startswith("the whole log: it is compressed with lzf")
    assert "there is no such file" in read_event_log(tmp_path / "none").missing[0]


SESSION = MadeApplication(
    name="Thrift JDBC/ODBC Server", user="anna", session=True,
    stages=tuple(MadeStage(begin_s=1000 * number) for number in range(1, 5)),
)  # fmt: skip


def odd(tmp_path, application, change):
    """The application of a log whose lines are changed, and of the log as it was."""
    log, lines = lines_of(tmp_path, application)
    whole = read_event_log(log)
    assert (whole.counts, whole.doubts) == (True, ())
    log.write_text("".join(change(lines)))
    return read_event_log(log), whole


@pytest.mark.parametrize(
    ("change", "doubts"),
    [
        (lambda lines: [*lines[:-1], lines[-1].rstrip("\n")], []),
        (lambda lines: [*lines[:6], "26/11/27 03:15:00 WARN Dispatcher: slow\n", *lines[6:]], ["1 of its log's lines are no events"]),
        (lambda lines: ["Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n", *lines], ["1 of its log's lines are no events"]),
        (lambda lines: [line for line in lines if 'JobEnd","Job ID":1' not in line], ["the end of 1 of its 4 jobs is missing in its log"]),
        (lambda lines: [*lines[:-2], lines[-2].replace("JobSucceeded", "JobFailed"), lines[-1]], ["1 of its 4 jobs failed, and count"]),
        (lambda lines: lines[:-1], ["its log has no end: it still ran, was killed"]),
        (lambda lines: [*lines[:-1], lines[-1][:30]], ["its log has no end (its last line has no end): it still"]),
        (lambda lines: [*lines[:-2]], ["its log has no end: it", "the end of 1 of its 4 jobs is missing"]),
        (lambda lines: [*lines, *lines], ["16 ends of tasks are repeated in its log, and count once"]),
    ],
)  # fmt: skip
def test_what_is_odd_in_a_log_is_said_and_the_rest_counts(tmp_path, change, doubts):
    job, whole = odd(tmp_path, SESSION, change)
    assert (job.counts, job.missing) == (True, ())
    assert (job.stages, job.nodes, job.ran_s) == (whole.stages, whole.nodes, pytest.approx(whole.ran_s, abs=1))
    assert whole.elapsed_s - 1 <= job.elapsed_s <= whole.elapsed_s
    assert len(job.doubts) == len(doubts)
    assert all(map(str.startswith, job.doubts, doubts))


def test_a_task_that_ends_before_it_starts_keeps_its_bytes_and_may_have_waited_all_the_time(tmp_path):
    def skew(lines):
        later = f'"Launch Time":{MadeApplication().began_ms + 90_000}'
        return [re.sub(r'"Launch Time":\d+', later, line) if '"Task ID":2' in line else line for line in lines]

    job, whole = odd(tmp_path, MadeApplication(stages=(MadeStage(cpu=0.9, input_bytes=4 * GB),)), skew)
    assert (job.whole.store_read, job.whole.tasks) == (whole.whole.store_read, whole.whole.tasks)
    assert job.whole.task_ms == whole.whole.task_ms * 3 // 4
    assert job.stages[0].saved_ms > 5 * whole.stages[0].saved_ms
    assert job.counts
    assert job.doubts[0].startswith("1 attempt starts after its end")


def test_a_session_is_judged_by_the_time_in_which_its_jobs_ran(tmp_path):
    session = read_event_log(write_event_log(tmp_path, SESSION))
    assert session.elapsed_s == 4020.5
    assert session.ran_s == 4 * 20
    assert (session.name, session.owner) == ("Thrift JDBC/ODBC Server", "anna")
    assert made(tmp_path, MadeStage(), name="nightly").owner == ""
    hive = made(
        tmp_path, MadeStage(), name="Hive on Spark (sessionId = 3f2504e0-4f89-11d3-9a0c-0305e82c3301)", user="bob"
    )
    assert hive.owner == "bob"
    at_once = made(tmp_path, MadeStage(), MadeStage(), MadeStage(begin_s=15), session=True)
    assert at_once.ran_s == 25


@pytest.mark.parametrize(
    ("hosts", "settings", "are_nodes"),
    [
        (("10.244.0.7", "10.244.0.8"), {"spark.master": "k8s://https://10.0.0.1:443"}, False),
        (("sort-5c1-exec-1", "sort-5c1-exec-2"), {"spark.master": "k8s://https://10.0.0.1:443"}, False),
        (("[fd00::7]", "fd00::8"), {"spark.master": "k8s://https://10.0.0.1:443"}, False),
        (("10.244.0.7", "10.244.0.8"), {"spark.master": "spark://m:7077", "spark.kubernetes.namespace": "n"}, False),
        (("worker-0", "worker-1"), {"spark.master": "k8s://https://10.0.0.1:443"}, True),
        (("10.1.0.7", "10.1.0.8"), {"spark.master": "yarn", "spark.kubernetes.namespace": "n"}, True),
        (("10.1.0.7", "10.1.0.8"), {"spark.master": "spark://m:7077"}, True),
    ],
)  # fmt: skip
def test_the_addresses_of_pods_are_no_nodes(tmp_path, hosts, settings, are_nodes):
    def renamed(lines):
        return [line.replace("worker-0", hosts[0]).replace("worker-1", hosts[1]) for line in lines]

    stages = (MadeStage(input_bytes=4 * GB),)
    log, lines = lines_of(tmp_path, MadeApplication(stages=stages, settings=settings))
    log.write_text("".join(renamed(lines)))
    job = read_event_log(log)
    assert job.hosts_are_nodes == are_nodes
    assert job.nodes == (tuple(sorted(hosts)) if are_nodes else ())
    assert job.stages[0].busiest.store_read == (2 * GB if are_nodes else 4 * GB)


@pytest.mark.parametrize(
    ("places", "rdds", "where"),
    [
        ([], [], "store"), (["hdfs://nn/t"], [], "store"), (["s3a://b/t"], [], "remote"), (["s3a://b/t", "gs://b/u"], [], "remote"),
        (["s3a://b/t", "hdfs://nn/t"], [], "store"), (["s3a://b/t"], ["HadoopRDD"], "store"), ([], ["s3a://b/log"], "remote"),
        (["s3a://b/t"], ["FileScanRDD", "ParallelCollectionRDD"], "remote"), (["alluxio://m/t"], [], "unplaced"),
        (["s3a://b/t"], ["file:/mnt/x"], "store"),
    ],
)  # fmt: skip
def test_input_is_elsewhere_only_if_all_that_is_read_is_known_to_be(tmp_path, places, rdds, where):
    plans = [
        json.dumps({
            "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": number,
            "physicalPlanDescription": f"FileScan parquet Location: InMemoryFileIndex(1 paths)[{place}], ReadSchema: x",
        })
        for number, place in enumerate(places)
    ]  # fmt: skip
    log, lines = lines_of(tmp_path, MadeApplication(stages=(MadeStage(input_bytes=4 * GB),)))
    infos = json.dumps([{"RDD ID": 9 + number, "Name": name, "Parent IDs": []} for number, name in enumerate(rdds)])
    lines = [line.replace('"RDD Info":[', f'"RDD Info":{infos[:-1]}{"," if rdds else ""}') for line in lines]
    log.write_text("".join([*(f"{plan}\n" for plan in plans), *lines]))
    work = read_event_log(log).whole
    read = {"store": work.store_read, "remote": work.remote_read, "unplaced": work.unplaced_read}
    assert read == {"store": 0, "remote": 0, "unplaced": 0, where: 4 * GB}
    assert read_event_log(log).unplaced == (("alluxio",) if where == "unplaced" else ())


@pytest.mark.parametrize(
    ("location", "schemes"),
    [
        ("InMemoryFileIndex(2 paths)[s3a://b/a, hdfs://nn/b]", {"s3a", "hdfs"}),
        ("InMemoryFileIndex [S3A://b/a]", {"s3a"}), ("InMemoryFileIndex(3 paths)[s3a://b/a, s3a://b/b, ...]", {"s3a", ""}),
        ("InMemoryFileIndex [s3a://b/a, ... 3 entries]", {"s3a", ""}), ("InMemoryFileIndex(1 paths)[s3a://b/a,b]", {"s3a"}),
        ("CatalogFileIndex[]", set()), ("InMemoryFileIndex(2 paths)[s3a://b/a, hdf..., PushedFilters: [], x", {"s3a", ""}),
    ],
)  # fmt: skip
def test_all_paths_of_a_scan_count_and_those_that_are_not_named_are_known_to_be_there(location, schemes):
    assert schemes_of_plan(f"FileScan parquet Location: {location}, ReadSchema: x".encode()) == schemes
    sources = Sources()
    sources.of_plan(schemes)
    assert sources.all is ("" not in schemes)


def test_paths_are_those_that_plans_name_whole():
    cut = "Location: InMemoryFileIndex(1 paths)[hdfs://nn/warehouse/a/very/long/..., PushedFilters: []"
    plan = (
        '"Execute InsertIntoHadoopFsRelationCommand hdfs://nn/sums, false, Parquet\\n'
        f'FileScan parquet Location: InMemoryFileIndex(2 paths)[hdfs://nn/a/day=1, /b], x: [] {cut}"'
    )
    assert paths_of_plan(plan.encode()) == ["hdfs://nn/a/day=1", "/b", "hdfs://nn/sums"]
    assert paths_in_store(["hdfs://nn/a/day=1", "hdfs://nn/a/day=2", "s3a://b/a", "/b/", "/b/*.csv", "hdfs://nn/*", "a"]) == (
        "hdfs://nn/a", "/b",
    )  # fmt: skip


def test_a_history_is_known_by_its_name_and_one_that_is_named_by_its_content(tmp_path):
    names = [
        "application_1795226383840_0042", "application_1795226383840_0042_1.zstd", "app-20261126154751-0000.lz4",
        "local-1795708018337", "application_1_0001.inprogress", "job_1_0001-1-u-n-2-1-1-SUCCEEDED-q.jhist",
    ]  # fmt: skip
    assert all(map(is_history, names))
    assert not any(map(is_history, ["notes.txt", "job_1_0001_conf.xml", "appstatus_application_1_0001", "killed"]))
    packed = tmp_path / "mine.gz"
    packed.write_bytes(gzip.compress((LOGS / "killed").read_bytes()))
    assert read_history_of(packed)[0].whole == read_history_of(LOGS / "killed")[0].whole
    assert read_history_of(LOGS / "README.md")[0].missing[0].startswith("a whole file (it is no job history")


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


def altered(tmp_path, change, application=None):
    """The application of a log whose events `change` makes anew, or leaves out: it gives those in place of one."""
    log, lines = lines_of(tmp_path, application or MadeApplication(stages=(MadeStage(cpu=0.9), MadeStage(begin_s=40))))
    events = [new for line in lines for new in change(json.loads(line))]
    log.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return read_event_log(log)


def is_of(event, kind, stage=1):
    number = event.get("Stage Info", event).get("Stage ID")
    return event["Event"] == f"SparkListener{kind}" and number == stage


def test_ends_of_tasks_that_no_event_tells_are_missing_whatever_else_ran(tmp_path):
    def missing(change):
        return " ".join(altered(tmp_path, change).missing)

    def drop_stage(event):
        return [] if is_of(event, "TaskEnd") or is_of(event, "StageCompleted") else [event]

    def copies(number, **changes):
        """Half of the tasks succeed twice, and the other half have no end."""

        def change(event):
            if not is_of(event, "TaskEnd"):
                return [event]
            task = event["Task Info"]
            again = {**event, **changes, "Task Info": {**task, "Attempt": number}}
            return [event, again] if task["Index"] < 2 else []

        return change

    assert missing(drop_stage).startswith("4 of its tasks: ")
    assert missing(copies(1)).startswith("2 of its tasks: ")
    assert missing(copies(0, **{"Stage Attempt ID": 1})).startswith("2 of its tasks: ")


def test_what_tasks_did_whose_ends_are_not_told_is_uncertain(tmp_path):
    def started(event):
        start = {**event, "Event": "SparkListenerTaskStart"}
        start["Task Info"] = {**event.get("Task Info", {}), "Finish Time": 0}
        return start

    def killed(event):
        if event["Event"].endswith(("ApplicationEnd", "JobEnd")) or is_of(event, "StageCompleted"):
            return []
        return [started(event)] if is_of(event, "TaskEnd") else [event]

    def failed(event):
        if event["Event"].endswith("JobEnd"):
            return [{**event, "Job Result": {"Result": "JobFailed"}}, {**event, "Job ID": 9}]
        return [started(event)] if is_of(event, "TaskEnd") else [] if is_of(event, "StageCompleted") else [event]

    def unmeasured(event):
        if not is_of(event, "TaskEnd"):
            return [event]
        lost = {**event, "Task End Reason": {"Reason": "ExecutorLostFailure"}, "Task Metrics": None}
        again = {**event, "Task Info": {**event["Task Info"], "Attempt": 1}}
        return [lost, again]

    ((clause, seconds),) = altered(tmp_path, killed).uncertain
    assert clause == "its log ends before the ends of 4 tasks, and how long these took is not known"
    assert seconds == float("inf")
    ((clause, seconds),) = altered(tmp_path, failed).uncertain
    assert (clause.startswith("its log lacks the ends of 4 tasks"), seconds) == (True, pytest.approx(20, abs=1))
    ((clause, seconds),) = altered(tmp_path, unmeasured).uncertain
    assert (clause.startswith("4 of its attempts that did not end well"), seconds) == (True, 20)
    assert altered(tmp_path, lambda event: [event]).uncertain == ()


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("Input Metrics", "Bytes Read", -GB), ("Output Metrics", "Bytes Written", -1),
        ("Shuffle Read Metrics", "Remote Bytes Read", -1), ("Shuffle Write Metrics", "Shuffle Bytes Written", -1),
        ("Shuffle Read Metrics", "Fetch Wait Time", 90_000), (None, "Disk Bytes Spilled", -1),
    ],
)  # fmt: skip
def test_a_counter_that_can_not_be_right_counts_for_nothing_and_is_said(tmp_path, group, name, value):
    amounts = dict.fromkeys(("input_bytes", "output_bytes", "fetched_bytes", "shuffle_write_bytes"), 4 * GB)
    application = MadeApplication(stages=(MadeStage(spilled_disk_bytes=4 * GB, **amounts),))

    def change(event):
        if is_of(event, "TaskEnd", 0) and event["Task Info"]["Index"] == 0:
            metrics = event["Task Metrics"]
            (metrics[group] if group else metrics)[name] = value
        return [event]

    job, whole = altered(tmp_path, change, application), altered(tmp_path, lambda event: [event], application)
    assert [doubt.partition(",")[0] for doubt in job.doubts] == ["1 attempt has counters that can't be right"]
    assert (whole.doubts, whole.uncertain) == ((), ())
    ((clause, seconds),) = job.uncertain
    assert (clause.startswith("1 of its attempts have counters"), seconds) == (True, 10)
    assert job.whole.tasks == whole.whole.tasks
    fields = ("store_read", "store_written", "fetched", "local_read", "local_written")
    lost = [getattr(whole.whole, field) - getattr(job.whole, field) for field in fields]
    assert all(amount in {0, GB} for amount in lost)
    assert any(lost) != (name == "Fetch Wait Time")


def test_what_attempts_computed_that_did_not_end_well_keeps_no_stage_from_ending_earlier(tmp_path):
    """Nor do attempts of a task that had ended well before."""
    application = MadeApplication(stages=(MadeStage(cpu=0.5),))

    def once_more(**how):
        def change(event):
            if not (is_of(event, "TaskEnd", 0) and event["Task Info"]["Index"] == 0):
                return [event]
            again = json.loads(json.dumps(event))
            again["Task Info"] |= {"Task ID": 77, "Attempt": 1, "Speculative": True}
            again["Task Metrics"]["Executor CPU Time"] *= 2
            return [event, {**again, **how}]

        return altered(tmp_path, change, application).stages[0]

    plain = altered(tmp_path, lambda event: [event], application).stages[0]
    killed = {"Task End Reason": {"Reason": "TaskKilled", "Kill Reason": "another attempt succeeded"}}
    for stage in (once_more(), once_more(**killed)):
        assert stage.saved_ms == plain.saved_ms == 10_000
        assert stage.unverified_ms == 10_000  # the attempt itself computed all of its time
        assert stage.whole.cpu_ms == plain.whole.cpu_ms + 20_000
        assert stage.whole.needed_cpu_ms == plain.whole.needed_cpu_ms == plain.whole.cpu_ms


def test_a_stage_saves_no_more_than_its_tasks_could_on_all_slots_that_its_application_had(tmp_path):
    """Of five tasks two ran at once, where three of another stage did."""
    shares = (0.9, 0.1, 0.9, 0.1, 0.9)

    def stagger(event):
        if is_of(event, "TaskEnd"):
            info, place = event["Task Info"], event["Task Info"]["Index"]
            info["Launch Time"] += 10_000 * (place // 2)
            info["Finish Time"] = info["Launch Time"] + 10_000
            event["Task Metrics"] |= {"Executor Run Time": 10_000, "Executor CPU Time": round(1e10 * shares[place])}
        return [event]

    both, alone = (
        altered(
            tmp_path, stagger,
            MadeApplication(stages=(MadeStage(tasks=tasks), MadeStage(begin_s=40, seconds=30, tasks=5))),
        ).stages[1]
        for tasks in (3, 2)
    )  # fmt: skip
    assert (both.peak, both.saved_ms, alone.saved_ms) == (2, 19_000, 12_000)


def test_processor_time_beyond_a_tasks_own_time_tells_nothing_of_its_waits(tmp_path):
    threads, busy = (made(tmp_path, MadeStage(seconds=600, cpu=cpu)).stages[0] for cpu in (3.0, 1.1))
    assert (busy.saved_ms, busy.unverified_ms) == (0, 0)
    assert threads.saved_ms == threads.unverified_ms == threads.elapsed_ms
    # What Java itself needs of processors in a short time are no threads of a task.
    assert made(tmp_path, MadeStage(seconds=10, cpu=3.0)).stages[0].saved_ms == 0


@pytest.mark.parametrize(
    ("settings", "field", "unplaced"),
    [
        ({"spark.shuffle.manager": "org.apache.spark.shuffle.celeborn.SparkShuffleManager"}, "unplaced", ("celeborn",)),
        ({"spark.shuffle.manager": "org.apache.spark.shuffle.RssShuffleManager"}, "unplaced", ("rss",)),
        ({"spark.shuffle.sort.io.plugin.class": "org.apache.uniffle.MadeDataIO"}, "unplaced", ("uniffle",)),
        ({"spark.shuffle.sort.io.plugin.class": "org.apache.spark.shuffle.S3ShuffleDataIO"}, "remote", ()),
        ({"spark.shuffle.manager": "sort"}, None, ()),
        ({"spark.kubernetes.local.dirs.tmpfs": "true"}, "", ()),
    ],
)
def test_a_shuffle_that_others_keep_is_in_no_local_directory(tmp_path, settings, field, unplaced):
    stage = MadeStage(shuffle_write_bytes=8 * GB, fetched_bytes=4 * GB, spilled_disk_bytes=GB)
    job = made(tmp_path, stage, settings=settings)
    work = job.whole
    assert job.unplaced == unplaced
    if field is None:
        assert (work.map_output_on_disk, work.local_written, work.fetched) == (8 * GB, 9 * GB, 4 * GB)
        return
    assert (work.map_output_on_disk, work.fetched) == (0, 0)
    assert work.local_written == (GB if field else 0)
    amounts = {
        name: getattr(work, f"{name}_read") + getattr(work, f"{name}_written") for name in ("unplaced", "remote")
    }
    assert amounts == {"unplaced": 0, "remote": 0, **({field: 12 * GB} if field else {})}
    assert len(job.doubts) == (field in {"", "remote"})


def test_names_of_one_node_are_one(tmp_path):
    names = iter(["Worker-1.Example.com", "worker-1", "worker-1.example.com.", "WORKER-1"])

    def change(event):
        if is_of(event, "TaskEnd", 0):
            event["Task Info"]["Host"] = next(names)
        return [event]

    job = altered(tmp_path, change, MadeApplication(stages=(MadeStage(input_bytes=4 * GB),)))
    assert len(job.nodes) == 1
    assert job.stages[0].busiest.store_read == 4 * GB


def test_a_log_with_several_applications_is_none_of_one(tmp_path):
    log, lines = lines_of(tmp_path, MadeApplication(stages=(MadeStage(),)))
    other = write_event_log(tmp_path, MadeApplication(number=2, stages=(MadeStage(),))).read_text()
    log.write_text("".join([*lines, other]))
    job = read_event_log(log)
    assert (job.id, job.counts) == (MadeApplication().id, False)
    assert job.missing[0].startswith("a log of its own: this one holds 2 applications")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"caf\xe9", "caf\N{REPLACEMENT CHARACTER}"),
        (b"\xc4\xe3\xba\xc3", "\N{REPLACEMENT CHARACTER}"),
        (rb"cut \ud83d", "cut ?"),
    ],
)
def test_text_in_any_encoding_is_read_with_its_damaged_characters_replaced(tmp_path, name, shown):
    log, lines = lines_of(tmp_path, MadeApplication(stages=(MadeStage(),)))
    whole = read_event_log(log)
    log.write_bytes("".join(lines).encode().replace(b"made application", name))
    job = read_event_log(log)
    assert (job.counts, job.stages, job.missing) == (True, whole.stages, ())
    assert job.name.startswith(shown)
    job.name.encode()


@pytest.mark.parametrize("engine", ["PHOTON", "STANDARD"])
def test_what_photon_spills_counts(tmp_path, engine):
    def change(event):
        if is_of(event, "TaskEnd", 0):
            spilled = {"ID": 7, "Name": "num bytes spilled to disk", "Update": str(GB), "Value": str(4 * GB)}
            event["Task Info"]["Accumulables"] = [{"ID": 6, "Name": "rows", "Update": "5"}, spilled]
        return [event]

    settings = {"spark.databricks.clusterUsageTags.runtimeEngine": engine}
    job = altered(tmp_path, change, MadeApplication(stages=(MadeStage(),), settings=settings))
    assert job.whole.local_written == job.whole.local_read == (4 * GB if engine == "PHOTON" else 0)


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_a_blank_file_of_a_rolled_log_is_no_loss_of_the_others(tmp_path, content):
    folder = tmp_path / ROLLED.name
    shutil.copytree(ROLLED, folder)
    last = max(int(file.name.split("_")[1]) for file in folder.glob("events_*"))
    (folder / f"events_{last + 1}_{ROLLED.name.removeprefix('eventlog_v2_')}").write_text(content)
    whole, job = read_event_log(ROLLED), read_event_log(folder)
    assert (job.missing, job.stages) == (whole.missing, whole.stages)


def test_a_log_that_ends_before_anything_can_be_decompressed_is_not_called_empty(tmp_path):
    log = tmp_path / "app-1.zstd"
    log.write_bytes((LOGS / "spill.zstd").read_bytes()[:40])
    assert why_no_history(log) == "it ends within its first compressed block; copy it again"
    log.write_bytes(b"")
    assert why_no_history(log) == "it is empty"


def test_a_tar_archive_of_a_log_is_said_to_be_one(tmp_path):
    log = write_event_log(tmp_path, SESSION)
    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as archive:
        archive.add(log, log.name)
    assert why_no_history(tmp_path / "logs.tar.gz") == "it is a tar archive: unpack it"
    assert why_no_history(log) == ""


def test_a_log_in_pieces_of_an_hour_stands_for_no_application(tmp_path):
    for name in ("eventlog", "eventlog-2026-11-28--09-00.gz"):
        (tmp_path / name).write_text("")
    assert is_rolled(tmp_path.name, ["eventlog", "eventlog-2026-11-28--09-00.gz"])
    assert any("it is in pieces of an hour each" in missing for missing in read_event_log(tmp_path).missing)

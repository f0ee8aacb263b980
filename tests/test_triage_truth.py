"""Proves how triage's truth is judged: what holds, what is wrongly excluded, and that a record's jobs become histories."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from benchmarks.triage_histories import events_of, head_of
from benchmarks.triage_truth import (
    Case,
    Measured,
    PastRun,
    disk_rows,
    excluded,
    exclusions_outcome,
    job_names,
    job_of,
    judged_on_disks,
    looseness_rows,
    main,
    measured_jobs,
    outcome,
    rule_rows,
    saving_interval,
    verdict_of,
    verdict_rows,
    write_cases,
    wrong,
)

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, history, write_events
from assay.engine.past.mapreduce import read_file, read_job
from assay.engine.past.spark import read_event_log
from assay.engine.spark_log import read_application
from assay.engine.tasks import MapReduceAttempt
from assay.engine.tez_tasks import TezAttempt
from assay.model.engine import JobReference
from assay.model.task import TaskAttempt
from assay.triage.bounds import Busy
from assay.triage.drives import drives_by_role
from tests.builders import a_job, a_record


def case(bound, saved, saved_low, polls=0.0):
    return Case("run", "job", "hdd", "ssd", 40.0, bound, saved, saved_low, 0.5, bound, polls)


def test_a_bound_is_wrong_where_the_whole_interval_is_above_it():
    cases = [case(0.2, 0.1, 0.05), case(0.2, 0.3, 0.1), case(0.2, 0.3, 0.25)]
    assert [one.holds for one in cases] == [True, True, False]
    assert outcome(cases).startswith(
        "A saving is shown in 3 of 3 cases. The bound holds in 2 of the 3, and in 2 with the waits between polls, as the "
        "verdicts count it. The other 0 cases could not fail. In 2 cases the mean is above the bound alone. "
    )
    assert outcome(cases).endswith("the bound is 0.7 times as much (median).")


def test_cases_that_a_bound_of_nothing_would_pass_are_not_counted_as_held():
    lucky = [case(0.0, 0.1, -0.1), case(0.0, 0.0, 0.0)]
    assert outcome([*lucky, case(0.2, 0.1, 0.05)]).startswith(
        "A saving is shown in 1 of 3 cases. The bound holds in 1 of the 1, and in 1 with"
    )
    assert "The other 2 cases could not fail" in outcome([*lucky, case(0.2, 0.1, 0.05)])


def test_a_verdict_is_wrong_where_the_whole_interval_is_above_the_threshold():
    right, short, chance = case(0.02, 0.0, 0.0, 0.03), case(0.09, 0.26, 0.26, 0.6), case(0.02, 0.2, 0.01, 0.03)
    cases = [right, short, chance]
    assert excluded(cases, 0.1, polls=False) == cases
    assert wrong(cases, 0.1) == 1
    assert excluded(cases, 0.1) == [right, chance]
    assert verdict_rows(cases)[1] == ["10%", "3", "1", "2", "0", "1"]
    assert wrong([case(0.02, 0.2, 0.15)], 0.1) == 1  # rule 2 can be wrong, too


def test_looseness_is_told_by_what_was_saved():
    cases = [case(bound, 0.15, 0.15) for bound in (0.5, 0.2, 0.3)] + [case(0.1, -0.2, -0.2)]
    rows = looseness_rows(cases)
    assert rows[0] == ["under 5%", "1", "10%", "10%", "10%"]
    assert rows[2] == ["10% to 20%", "3", "20%", "30%", "50%"]
    assert rows[4] == ["40% and more", "0", "-", "-", "-"]


def test_rules_are_right_or_wrong_only_where_the_whole_interval_is_beyond_the_threshold():
    def of_spark(bound, low, high, polls=0.0, **rules):
        return case(bound, (low + high) / 2, low, polls)._replace(rules=rules, saved_high=high)

    cases = [
        of_spark(0.5, 0.2, 0.4, much=True, waits=False), of_spark(0.5, 0.0, 0.09, much=True, waits=False),
        of_spark(0.05, 0.0, 0.04, much=False, waits=True), of_spark(0.05, 0.1, 0.3, polls=0.1, much=False, waits=True),
        of_spark(0.5, 0.05, 0.4, much=True, waits=False), case(0.5, 0.3, 0.3),
    ]  # fmt: skip
    assert rule_rows(cases) == [
        ["always yes", "5", "2", "2", "0", "0", "0", "0"], ["always no", "0", "0", "0", "5", "2", "2", "0"],
        ["triage", "3", "1", "1", "1", "1", "0", "1"],
        ["much", "3", "1", "1", "2", "1", "1", "0"], ["waits", "2", "1", "1", "3", "1", "1", "0"],
    ]  # fmt: skip
    assert rule_rows(cases[-1:]) == []


def on_disk(verdict, low, high, shuffled=0, busy="cannot matter", drive="hdd", other="ssd", job="job"):
    return Case(
        "run", job, drive, other, 60.0, 0.02, (low + high) / 2, low, 0.5, 0.02, 0.03, {}, high, verdict, busy, shuffled,
        on_disk=drive == "hdd",
    )  # fmt: skip


def test_exclusions_on_hard_disks_are_judged_against_the_drive_that_saved_most_and_beside_simpler_rules():
    cases = [
        on_disk("cannot matter", -0.02, 0.04, job="a"), on_disk("cannot matter", 0.0, 0.05, other="zero-delay", job="a"),
        on_disk("cannot matter", 0.11, 0.2, job="b"), on_disk("not known", 0.05, 0.2, job="c"),
        on_disk("may matter: test it", 0.3, 0.5, 10**9, "may matter: test it", job="d"),
        on_disk("cannot matter", 0.0, 0.02, drive="ssd", other="zero-delay", job="a"), case(0.02, 0.0, 0.0),
    ]  # fmt: skip
    judged = judged_on_disks(cases)
    assert [(judged_case.job, judged_case.other) for judged_case in judged] == [
        ("a", "zero-delay"),
        ("b", "ssd"),
        ("c", "ssd"),
        ("d", "ssd"),
    ]
    assert exclusions_outcome(judged).startswith(
        "Triage excluded 2 of 4 jobs on hard disks by histories alone: 1 wrongly, 1 shown rightly, 0 open. The mean saving "
        "of 1 of them reached 10%; the largest was 15.5%. Triage excluded 3 of 4 jobs on hard disks with busy drives"
    )
    assert disk_rows(judged) == [
        ["always yes", "4", "2", "1", "0", "0", "0", "0"], ["always no", "0", "0", "0", "4", "1", "2", "0"],
        ["the 10 largest by shuffled bytes", "4", "2", "1", "0", "0", "0", "0"],
        ["triage, by histories", "1", "1", "0", "2", "1", "1", "1"],
        ["triage, with busy drives and threads", "1", "1", "0", "3", "1", "1", "0"],
    ]  # fmt: skip
    assert exclusions_outcome([judged[2]]).startswith(
        "Triage excluded none of 1 jobs on hard disks by histories alone."
    )


def test_jobs_that_are_called_alike_are_told_apart_by_the_levels_in_which_they_differ():
    keys = [("k-means", "tuned", "k=8 points=9", "iteration 1"), ("k-means", "tuned", "k=9 points=9", "iteration 1"),
            ("grep", "stock", "pattern=" + "x|" * 40, "search")]  # fmt: skip
    assert list(job_names(keys).values()) == [
        "k-means iteration 1 (k=8 points=9)", "k-means iteration 1 (k=9 points=9)", "grep search",
    ]  # fmt: skip
    long = [("grep", f"size={size} pattern=" + "x|" * 40, "search") for size in (1, 2)]
    assert job_names(long)[long[0]] == "grep search (size=1 pattern=x|x|x|x|x|x|x|x)"


def test_triage_itself_is_asked_with_all_repetitions_as_runs_of_a_job():
    """Tasks that wait and read little are excluded where drives were hardly busy, and not known by their history alone."""
    made = MadeJob(map_ms=60_000, reduce_ms=20_000, cpu=0.5, read_bytes=1 << 20, map_output_bytes=1 << 20)
    job = read_job(BytesIO(history(made)), {"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "50"})
    stages = {stage.name: 0.2 for stage in job.stages}
    drives = drives_by_role("1xhdd", find_installation().profiles)
    runs = [
        Measured(80.0, drives, 1.0, 0.5, 0.1, 0.0, {}, PastRun(job, Busy(stages, 1e6, stages), 2)) for _ in range(3)
    ]
    assert verdict_of(runs, with_busy=False) == "not known"
    assert verdict_of(runs, with_busy=True) == "cannot matter"
    assert verdict_of([runs[0]._replace(past=None)], with_busy=True) == ""


def test_cases_are_kept_beside_those_of_other_runs(tmp_path):
    file = tmp_path / "cases.json"
    write_cases(file, [case(0.1, 0.0, 0.0)._replace(run="one"), case(0.1, 0.0, 0.0)._replace(run="two")])
    write_cases(file, [case(0.2, 0.0, 0.0)._replace(run="two")])
    kept = [Case(**of) for of in json.loads(file.read_text())]
    assert [(of.run, of.bound) for of in kept] == [("one", 0.1), ("two", 0.2)]


def test_the_interval_of_what_was_saved_is_of_repetitions_and_single_trials_have_none():
    def took(*elapsed_s):
        return [Measured(seconds, {}, None, 0.0, 0.0, 0.0, {}) for seconds in elapsed_s]

    assert saving_interval(took(20), took(15)) == (0.25, 0.25)
    low, high = saving_interval(took(19, 20, 21), took(14, 15, 16))
    assert low < 0.25 < high
    assert low + high == pytest.approx(0.5)


def test_a_records_application_is_read_as_its_event_log_would_be():
    log = Path(__file__).parent / "fixtures" / "spark" / "spill.zstd"
    history = read_application(log, JobReference(name="", id=""))
    past = job_of(history.job, history.attempts, {"spark.hadoop.dfs.replication": "2"})
    assert (past.stages, past.nodes, past.uncounted) == (read_event_log(log).stages, ("localhost",), "")
    assert past.copies == 2
    assert past.counts
    rolled = read_application(log.with_name("eventlog_v2_local-1795708018337"), JobReference(name="", id=""))
    assert job_of(rolled.job, rolled.attempts, {}).uncounted


def attempt(number, stage, begin_ms, end_ms, **counters):
    return MapReduceAttempt(
        job="job_1_0001", attempt=f"attempt_1_0001_{stage[0]}_{number:06d}_0", stage=stage, node="a", state="SUCCEEDED",
        started_ms=begin_ms, finished_ms=end_ms, **counters,
    )  # fmt: skip


def test_jobs_whose_histories_triage_does_not_read_are_no_cases(monkeypatch, tmp_path):
    of_others = TaskAttempt(**attempt(1, "map", 1000, 2000).model_dump(include=set(TaskAttempt.model_fields)))
    jobs = [
        (a_record(), a_job(name), [told])
        for name, told in (("sort", attempt(1, "map", 1000, 2000)), ("join", of_others))
    ]
    monkeypatch.setattr("benchmarks.triage_truth.jobs_of", lambda _: jobs)
    assert {key[-1] for key in measured_jobs(tmp_path, tmp_path)} == {"sort"}


def test_a_job_of_tez_is_read_as_its_log_would_be():
    job = a_job().model_copy(update={"id": "job_1_0001", "submitted_ms": 1, "started_ms": 1000, "finished_ms": 21_000})

    def of_tez(vertex, stage, begin_ms, end_ms, **counters):
        return TezAttempt(
            job=job.id, attempt=f"attempt_1_0001_1_{vertex:02d}_000000_0", stage=stage, node="a", state="SUCCEEDED",
            started_ms=begin_ms, finished_ms=end_ms, **counters,
        )  # fmt: skip

    attempts = [
        of_tez(1, "finalreduce", 9000, 20_000, shuffled_bytes=7, shuffle_ms=2500, merged_ms=3000, cpu_ms=5),
        of_tez(0, "initialmap", 2000, 10_000, cpu_ms=6000, hdfs_read_bytes=5, output_materialized_bytes=8),
    ]
    past = job_of(job, attempts, {"dfs.replication": "1"})
    maps, reduces = past.stages
    assert (past.counts, past.copies, past.elapsed_s) == (True, 1, 20.0)
    assert (maps.name, maps.saved_ms, maps.whole.store_read) == ("initialmap", 2000, 5)
    assert (reduces.name, reduces.early_ms, reduces.whole.fetched) == ("finalreduce", 1000, 7)
    assert reduces.phases_ms == {"shuffle": 1500, "merge": 500, "reduce": 8000}


def test_a_run_without_task_attempts_is_refused_with_the_place_and_the_remedy(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.triage_truth.jobs_of", lambda _: [(a_record(), a_job("sort"), [])])
    monkeypatch.setattr("sys.argv", ["triage_truth.py", str(tmp_path)])
    assert main() == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"{tmp_path}: trial {a_record().trial.id} has no task attempts of sort")
    assert "tasks.parquet" in shown.err


def test_a_records_job_is_read_as_its_history_would_be(tmp_path):
    job = a_job().model_copy(update={"id": "job_1_0001", "submitted_ms": 1, "started_ms": 1000, "finished_ms": 21_000})
    attempts = [
        attempt(1, "reduce", 11_000, 20_000, shuffled_bytes=7, shuffle_finished_ms=12_000, merge_finished_ms=13_000),
        attempt(1, "map", 2000, 10_000, cpu_ms=6000, hdfs_read_bytes=5, map_output_bytes=8),
        attempt(2, "map", 2000, 11_000, cpu_ms=3000, hdfs_read_bytes=5).model_copy(update={"state": "KILLED"}),
    ]
    past = job_of(job, attempts, {"dfs.replication": "1"})
    maps, reduces = past.stages
    assert (past.id, past.elapsed_s, past.missing, past.copies) == ("job_1_0001", 20.0, (), 1)
    assert (maps.whole.store_read, maps.whole.cpu_ms, maps.whole.tasks, maps.elapsed_ms) == (10, 9000, 2, 9000)
    assert (reduces.whole.fetched, reduces.phases_ms["merge"]) == (7, 1000)
    file = write_events(
        tmp_path, head_of(job, "sort", "run"), events_of(job, attempts), "binary", {"dfs.replication": "1"}
    )
    assert read_file(file).stages == past.stages
    assert read_file(file).settings == past.settings

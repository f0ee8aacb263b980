"""Proves which runs are one job, that verdicts follow the threshold with their reasons, and what is cheaper."""

import io

import pytest

from assay.cli.context import find_installation
from assay.engine.past.changes import changes, spills_per_record
from assay.engine.past.job import distinct
from assay.engine.past.reading import read_job
from assay.triage.busy import Busy
from assay.triage.drives import drives_by_role
from assay.triage.names import NAMELESS, numbered, recurring
from assay.triage.ranking import Site, TriageVerdict, deciding, judge, triage
from assay.triage.views import columns, headline, sums
from assay_extras.testing.job_histories import MadeJob, events, history

MIB, GIB = 1 << 20, 1 << 30
HEAVY = MadeJob(
    name="nightly sort 2026-11-25", maps=8, reduces=2, slots=4, cpu=0.1, map_ms=20_000, reduce_ms=40_000,
    read_bytes=4 * GIB, map_output_bytes=4 * GIB, written_bytes=4 * GIB,
)  # fmt: skip
LIGHT = MadeJob(
    name="report", number=7, map_ms=60_000, reduce_ms=30_000, cpu=0.95, read_bytes=10 * MIB, map_output_bytes=MIB,
    written_bytes=MIB,
)  # fmt: skip


def made(job, settings=()):
    return read_job(io.BytesIO(history(job)), dict(settings))


def site(text="1xhdd", **more):
    return Site(drives_by_role(text, find_installation().profiles), **more)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nightly sort 2026-11-25", "nightly sort"), ("daily-2026/11/25 03:15-load", "daily-load"),
        ("import 17", "import"), ("q2", "q2"), ("INSERT INTO t(Stage-1)", "INSERT INTO t(Stage-1)"),
        ("oozie:launcher:T=java:W=wf:A=act:ID=0000012-131231233210129-oozie-oozi-W", "oozie:launcher:T=java:W=wf:A=act:ID=oozie-oozi-W"),
        ("job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 x", "job x"), ("夜間バッチ 20261125", "夜間バッチ"), ("ночной отчёт 3", "ночной отчёт"),
        ("٢٠٢٦ تقرير", "تقرير"), ("12345", "12345"), ("=1+1", "=1+1"), ("", NAMELESS), ("  two   words ", "two words"),
        ("Sleep job", "Sleep job"), ("a\nb 4", "a b"),
    ],
)  # fmt: skip
def test_runs_of_one_job_have_one_name(name, plain):
    assert recurring(name) == plain


def test_numbers_for_names():
    assert numbered(["b", "a", "b"]) == {"b": "job 1", "a": "job 2"}


def test_runs_add_up_and_the_rank_is_by_what_could_be_saved():
    again = HEAVY._replace(number=2, name="nightly sort 2026-11-26", submitted_ms=HEAVY.submitted_ms + 86_400_000)
    rows = judge([made(LIGHT), made(HEAVY), made(again)], site(), 0.1)
    assert [(row.job, row.runs, row.verdict) for row in rows] == [
        ("nightly sort", 2, TriageVerdict.MAY_MATTER), ("report", 1, TriageVerdict.CANNOT_MATTER),
    ]  # fmt: skip
    assert rows[0].elapsed_s == 2 * made(HEAVY).elapsed_s
    assert rows[0].read_bytes == 8 * GIB
    assert sum(row.task_share for row in rows) == pytest.approx(1)
    assert rows[0].role == "intermediate"
    assert rows[0].bound_s <= rows[0].elapsed_s
    assert rows[1].reason


def test_the_verdict_is_that_of_the_threshold():
    (row,) = judge([made(HEAVY)], site(), 0.1)
    polls = row.polls_s / row.elapsed_s
    verdicts = [
        judge([made(HEAVY)], site(), row.bound_share + more)[0].verdict
        for more in (-0.01, 0.01, polls - 0.01, polls + 0.01)
    ]
    assert verdicts == [
        TriageVerdict.MAY_MATTER, TriageVerdict.NOT_KNOWN, TriageVerdict.NOT_KNOWN, TriageVerdict.CANNOT_MATTER,
    ]  # fmt: skip


def test_a_job_is_too_short_where_waits_between_polls_decide():
    short = LIGHT._replace(map_ms=2000, reduce_ms=1000)
    runs = [made(short._replace(number=n, submitted_ms=short.submitted_ms + 100_000 * n)) for n in (1, 2)]
    answer = triage([*runs, made(LIGHT._replace(name="long"))], site(), 0.1, "1 x disk", 0, [])
    summary, row = answer.summary, next(row for row in answer.rows if row.job == "report")
    assert row.verdict is TriageVerdict.NOT_KNOWN
    assert row.reason.startswith("too short to judge: it takes 5.5 s a run, of which 2.5 s are starts and commits, and")
    assert "may come to 4.0 s more or less" in row.reason
    assert (summary.short, summary.short_s) == (1, 11.0)
    assert headline(summary) == "1 job cannot matter, 1 is not known"
    assert summary.short_bound_s == pytest.approx(row.bound_s + 8)
    assert (
        "1 job is too short to judge: of 11 s in all, other drives could save, with such waits, up to 8 s"
        in " ".join(sums(summary))
    )


def test_waits_between_polls_are_those_of_each_stage_at_the_masters_heartbeats():
    assert made(HEAVY).polls_s == 4
    assert made(HEAVY._replace(reduces=0)).polls_s == 2
    beats = {"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "50"}
    assert made(HEAVY, beats).polls_s == pytest.approx(2.1)
    assert made(LIGHT._replace(map_ms=100, reduce_ms=100)).polls_s == 2.7  # no more than the job


def test_reasons_say_where_the_time_went():
    def reason(job, **more):
        (row,) = judge([made(job)], site(**more), 0.1)
        assert row.verdict is TriageVerdict.CANNOT_MATTER, row.how
        return row.reason

    waiting = [
        (kind, {**event, "launchTime": event["launchTime"] - 90_000} if kind == "JOB_INITED" else event)
        for kind, event in events(LIGHT)
    ]
    assert reason(waiting).startswith("starts and waits for containers take")
    assert reason(LIGHT._replace(cpu=0.3)).startswith("it moves 1")
    assert reason(HEAVY._replace(cpu=0.97)).startswith("computing: its tasks wait")
    cached = {"busy": lambda job: Busy({"map": 0.1, "reduce": 0.1}, 0.0)}
    assert reason(HEAVY, **cached).startswith("the page cache served it: drives read 0 B")


def test_what_is_missing_is_said_and_good_runs_still_count():
    failed = made(HEAVY._replace(state="FAILED", number=3))
    rows = judge([failed], site(), 0.1)
    assert (rows[0].verdict, rows[0].bound_s) == (TriageVerdict.NOT_KNOWN, None)
    assert "missing: a good end: the job was failed" in rows[0].reason
    (both,) = judge([failed, made(HEAVY)], site(), 0.1)
    assert (both.runs, both.counted, both.verdict) == (2, 1, TriageVerdict.MAY_MATTER)
    assert both.ids[0] == HEAVY.id


def test_a_run_of_which_two_files_tell_counts_once_and_by_the_whole_file():
    cut = read_job(io.BytesIO(history(HEAVY)[:9000]), {})
    assert cut.missing
    assert cut.id == HEAVY.id
    answer = triage([cut, made(HEAVY), made(HEAVY), made(LIGHT)], site(), 0.1, "1 x disk", 0, [])
    assert (answer.summary.runs, answer.summary.copies, answer.summary.not_counted) == (2, 2, 0)
    assert answer.summary.most_at_once == 2
    assert "2 files told of runs that others tell of." in list(sums(answer.summary))
    broken = [read_job(io.BytesIO(b"x"), {}, "", f"{number}.jhist") for number in (1, 2)]
    assert triage(broken, site(), 0.1, "1 x disk", 0, []).summary.copies == 0


@pytest.mark.parametrize("other", [{"name": "b"}, {"user": "another"}, {"submitted_ms": HEAVY.submitted_ms + 1}])
def test_two_jobs_to_which_two_clusters_gave_one_id_are_two(other):
    both = [made(HEAVY), made(HEAVY._replace(**other))]
    assert {job.id for job in both} == {HEAVY.id}
    assert distinct([*both, *reversed(both)]) == both


def test_what_is_assumed_is_said():
    jobs = [made(HEAVY), made(LIGHT, {"dfs.replication": "1"}), made(HEAVY._replace(number=3, uberized=True))]
    nowhere = [
        (kind, {**event, "trackerName": ""} if "trackerName" in event else event)
        for kind, event in events(LIGHT._replace(number=8))
    ]
    assumed = " ".join(triage([*jobs, made(nowhere)], site(), 0.1, "1 x disk", 0, []).summary.assumed)
    assert "3 of 4 histories have no configuration beside them: Hadoop's own values are taken" in assumed
    assert "runs inside application masters (uber jobs, 1 of 4): only the bytes bound them" in assumed
    assert "1 of 4 histories name no nodes" in assumed


def test_the_fewest_jobs_that_hold_most_decide():
    jobs = [made(HEAVY)] + [
        made(
            LIGHT._replace(
                number=10 + n,
                name=f"small {chr(97 + n)}",
                cpu=0.0,
                read_bytes=20 * MIB,
                submitted_ms=HEAVY.submitted_ms + 1_000_000 * (n + 1),
            )
        )
        for n in range(4)
    ]
    answer = triage(jobs, site(), 0.01, "1 x disk", 0, [])
    assert deciding(answer.rows) == list(answer.summary.deciding) == ["nightly sort"]
    assert [row.verdict for row in answer.rows].count(TriageVerdict.MAY_MATTER) == 1
    assert answer.summary.bound_s == pytest.approx(answer.rows[0].bound_s)
    rest_s = sum(row.bound_s for row in answer.rows if row.verdict is TriageVerdict.CANNOT_MATTER)
    assert answer.summary.rest_s == pytest.approx(rest_s)
    assert " in the 1 job that may matter" in next(sums(answer.summary))
    assert answer.summary.most_at_once == 1
    assert sum(answer.summary.verdicts.values()) == 5


def test_a_sum_names_no_part_that_is_larger_than_itself():
    others = [made(HEAVY._replace(number=n, name=f"other {chr(97 + n)}")) for n in range(4)]
    row = next(row for row in judge([made(HEAVY), *others], site(), 0.1) if row.job == "nightly sort")
    assert row.beside_s > row.elapsed_s
    assert f"what it and the jobs beside it moved takes the drives at most {row.by_bytes_s:.1f} s" in row.how


def test_what_kernels_may_miss_is_counted_as_the_bound_counts_it():
    (row,) = judge([made(HEAVY)], site(busy=lambda job: Busy({"map": 2.0, "reduce": 1.0}, GIB)), 0.1)
    assert row.bound_s == pytest.approx(1.5 * row.busy_s)
    assert "busy for 3.0 s, counted 1.5 times since kernels may miss short requests" in row.how


def test_times_of_several_runs_say_how_many():
    again = HEAVY._replace(number=2, submitted_ms=HEAVY.submitted_ms + 86_400_000)
    (row,) = rows = judge([made(HEAVY), made(again)], site(), 0.1)
    assert " s over 2 runs, " in row.how
    assert "over 2 runs" in [column.head for column in columns(rows, ["x"])]


def test_nothing_but_broken_histories():
    broken = [read_job(io.BytesIO(b"x"), {}, "job_1_0001")]
    answer = triage(broken, site(), 0.1, "1 x disk", 0, [])
    assert (answer.summary.not_counted, answer.rows[0].job) == (1, NAMELESS)


def kinds(job, settings=()):
    return {change.kind: change for change in changes(made(job, settings))}


def test_cheaper_changes_rest_on_counters():
    sort = kinds(HEAVY._replace(spills=2), {"mapreduce.task.io.sort.mb": "100"})["sort buffer"]
    assert "mapreduce.task.io.sort.mb from 100 to " in sort.change
    assert "SPILLED_RECORDS" in sort.counter
    assert spills_per_record(made(HEAVY._replace(spills=3))) == pytest.approx(3)
    assert "sort buffer" not in kinds(HEAVY)
    settings = {"dfs.replication": "3"}
    assert "compression" in kinds(HEAVY, settings)
    assert "compression" not in kinds(HEAVY, {"mapreduce.map.output.compress": "true"})
    assert "compression" not in kinds(HEAVY)  # without a configuration no one knows
    pieces = HEAVY._replace(maps=200, reduces=50, map_output_bytes=100 * MIB)
    assert "pieces of 10.2 KiB" in kinds(pieces)["small pieces"].counter
    assert "few reducers" in kinds(HEAVY._replace(reduces=1, nodes=4))
    assert "few reducers" not in kinds(HEAVY._replace(reduces=4, nodes=4))
    assert "small files" in kinds(HEAVY._replace(maps=400, read_bytes=400 * MIB))
    early = [
        (kind, {**event, "startTime": event["startTime"] - 30_000} if kind == "REDUCE_ATTEMPT_STARTED" else event)
        for kind, event in events(HEAVY)
    ]
    assert "slow start" in {change.kind for change in changes(read_job(io.BytesIO(history(early)), {}))}
    assert not kinds(LIGHT)

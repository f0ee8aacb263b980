"""Proves which runs are one job, that verdicts follow the threshold with their reasons, and what is cheaper."""

import io
import re
import time
from datetime import datetime, timedelta
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.context import find_installation
from assay.engine.past.formats import suggestions
from assay.engine.past.job import Uncertain, distinct
from assay.engine.past.made_histories import MadeJob, events, history
from assay.engine.past.mapreduce import read_job
from assay.engine.past.mapreduce_advice import spills_per_record
from assay.triage.bounds import Busy
from assay.triage.drives import drives_by_role
from assay.triage.following import TypedTriage, next_commands
from assay.triage.names import NAMELESS, numbered, recurring, run_name
from assay.triage.ranking import DriveSite, TriageVerdict, deciding, judge, triage
from assay.triage.views import columns, headline, page, sums

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
    return DriveSite(drives_by_role(text, find_installation().profiles), **more)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nightly sort 2026-11-25", "nightly sort"), ("daily-2026/11/25 03:15-load", "daily-load"),
        ("import 17", "import 17"), ("q2", "q2"), ("INSERT INTO t(Stage-1)", "INSERT INTO t(Stage-1)"),
        ("oozie:launcher:T=java:W=wf:A=act:ID=0000012-131231233210129-oozie-oozi-W", "oozie:launcher:T=java:W=wf:A=act:ID=oozie-oozi-W"),
        ("job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 x", "job x"), ("夜間バッチ 20261125", "夜間バッチ"), ("ночной отчёт 3", "ночной отчёт 3"),
        ("٢٠٢٦ تقرير", "٢٠٢٦ تقرير"), ("12345", "12345"), ("=1+1", "=1+1"), ("", NAMELESS), ("  two   words ", "two words"),
        ("Sleep job", "Sleep job"), ("a\nb 4", "a b 4"), ("etl_01", "etl_01"), ("etl_0040", "etl_0040"),
        ("etl_20261125_01", "etl"), ("etl_20261128_0802", "etl"), ("clean 2026-11-28-03", "clean"), ("load_20261125_99", "load_99"),
        ("load_20261125_03f2504e", "load_03f2504e"), ("load-25.11.2026", "load"), ("load 26-11-25", "load"), ("load 2026-11", "load"),
        ("load/2026/11/25/03", "load"), ("load_20261125T0315", "load"), ("load 2026-11-25T03:15:00.5Z x", "load x"),
        ("load 03:15", "load"), ("load run 17", "load run"), ("load/day=25/hour=03", "load/day=25/hour=03"), ("holiday 3", "holiday 3"),
        ("sales_day_7", "sales_day_7"), ("week 30", "week 30"), ("etl_1001", "etl_1001"), ("sf1000", "sf1000"), ("sf2000", "sf2000"),
        ("sort 10000", "sort 10000"), ("sales 2025", "sales"), ("sales 2099", "sales 2099"), ("etl_100042", "etl"),
        ("load try=2", "load try"), ("load_attempt_3", "load_attempt"), ("retry 1 of load", "retry of load"),
        ("streamjob1795226383840.jar", "streamjob.jar"), ("Sort of attempt_1795226383840_0042_m_000003_0", "Sort of attempt"),
        ("application_1795226383840_0042", "application"), ("hive_20261125031500_3f2504e0-4f89-11d3-9a0c-0305e82c3301", "hive"),
        ("query 14 of 99", "query 14 of 99"), ("release 1.2.3", "release 1.2.3"), ("build 1041", "build 1041"),
    ],
)  # fmt: skip
def test_runs_of_one_job_have_one_name(name, plain):
    assert recurring(name) == plain


def test_a_name_that_streaming_gives_is_its_users():
    jobs = [
        made(LIGHT._replace(name=f"streamjob{179522638384}{number}.jar", user=user))
        for number, user in enumerate(("ann", "bob"))
    ]
    assert [run_name(job) for job in jobs] == ["streamjob.jar (ann)", "streamjob.jar (bob)"]
    assert made(LIGHT).owner == ""


def test_the_jobs_of_a_query_are_one_line_whose_times_add_up():
    """Two nights of a query that Hive runs as two jobs, one after the other; each night asks for another day."""
    jobs = []
    for night in (24, 25):
        begins_ms = HEAVY.submitted_ms + night * DAY_MS
        for stage in (1, 2):
            name = f"INSERT OVERWRITE TAB......day='2026-11-{night}' (Stage-{stage})"
            job = HEAVY._replace(number=10 * night + stage, name=name, submitted_ms=begins_ms)
            begins_ms = job.finished_ms + 1000
            jobs.append(made(job))
    answer = triage(jobs, site(), 0.1, "1 x disk", 0, [])
    (row,) = answer.rows
    assert (row.job, row.runs) == ("INSERT OVERWRITE TAB......day=?", 4)
    assert row.elapsed_s == pytest.approx(sum(job.elapsed_s for job in jobs))
    assert row.bound_s == pytest.approx(sum(judge([job], site(), 0.1)[0].bound_s for job in jobs))
    night = answer.window.longest_night
    assert night.chain == (row.job, row.job)
    assert night.bound_s == pytest.approx(night.jobs_bound_s)


def test_jobs_that_are_numbered_are_as_many_jobs_each_with_its_runs():
    """Forty jobs that do different work, of two nights."""
    jobs = [
        LIGHT._replace(
            number=100 * night + place, name=f"etl_{place:02}_2026-11-{night}", cpu=0.95 if place > 1 else 0.1,
            submitted_ms=LIGHT.submitted_ms + 86_400_000 * night + 600_000 * place,
        )
        for night in (25, 26) for place in range(1, 41)
    ]  # fmt: skip
    rows = judge([made(job) for job in jobs], site(), 0.1)
    assert {row.job: row.runs for row in rows} == {f"etl_{place:02}": 2 for place in range(1, 41)}
    verdicts = {row.job: row.verdict for row in rows}
    assert verdicts.pop("etl_01") is TriageVerdict.NOT_KNOWN  # its tasks wait for what nobody counted
    assert {*verdicts.values()} == {TriageVerdict.CANNOT_MATTER}


DAY_MS = 86_400_000


@pytest.mark.parametrize("days", [0, 5, 31])
def test_days_to_print_are_those_of_the_jobs_and_one_on_either_side_and_28_at_most(days):
    jobs = [made(HEAVY), made(HEAVY._replace(number=2, submitted_ms=HEAVY.submitted_ms + days * DAY_MS))]
    answer = triage(jobs, site(), 0.1, "1 x disk", 0, [])
    command, *_ = next_commands(answer, TypedTriage(["--history", "done"], drives=site().drives))
    began, ended = (
        datetime.fromtimestamp(at_ms / 1000).astimezone().date() for at_ms in (jobs[0].started_ms, jobs[1].finished_ms)
    )
    last = ended + timedelta(days=1)
    first = last - timedelta(days=27) if days == 31 else began - timedelta(days=1)
    assert command.command == f"sadf -d /var/log/sa/sa{first:%d} -- -d -p > $(hostname)-{first:%d}.csv"
    assert f"for each day from {first} (sa{first:%d}) to {last} (sa{last:%d}) that it keeps" in command.words


def test_what_is_to_be_filled_in_is_said_in_words_that_stand_alone():
    answer = triage([made(HEAVY)], site(), 0.1, "1 x disk", 0, [])
    given = TypedTriage(["--history", "done"], drives=site().drives, node_memory=64 * GIB, wants_busy=False)
    (command,) = next_commands(answer, given)
    assert command.words == (
        "JAR and INPUT are the job's, and CONTAINER_MEMORY is what containers may take of a node's memory"
    )
    (command,) = next_commands(answer, given._replace(node_memory=None))
    assert "and NODE_MEMORY is the memory of a node, such as 128GiB, and CONTAINER_MEMORY is" in command.words


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


def test_what_is_likely_decides_the_rank_among_jobs_that_may_matter():
    """Also of jobs unlike all that was measured; and what is not known of comes last, whatever its bound."""
    sizes = {"read_bytes": 40 * GIB, "map_output_bytes": 40 * GIB, "written_bytes": 40 * GIB}
    busy = HEAVY._replace(name="busy", number=2, nodes=2)
    crowded = busy._replace(name="crowded", number=3, slots=64, maps=64, **sizes)
    idle = busy._replace(name="idle", number=4, map_ms=60_000, reduce_ms=120_000, **sizes)
    nameless = idle._replace(name="nameless", number=5)
    shares = {"busy": 0.9, "idle": 0.1, "crowded": 0.5}

    def measured(job):
        usual_s = {stage.name: shares.get(job.name, 0) * stage.elapsed_ms / 1000 for stage in job.stages}
        return Busy({}, 0.0, usual_s=usual_s, drives=2)

    jobs = [made(nameless)._replace(nodes=()), made(idle), made(crowded), made(busy)]
    answer = triage(jobs, site("2xhdd", busy=measured), 0.1, "", 0, ())
    rows, summary = answer.rows, answer.summary
    by_name = {row.job: row for row in rows}
    known = sorted(("busy", "idle", "crowded"), key=lambda name: -by_name[name].likely_s)
    assert [row.job for row in rows] == [*known, "nameless"]
    assert by_name["busy"].likely_share > by_name["idle"].likely_share
    assert by_name["nameless"].likely_s is None
    assert [by_name[name].likely_unknown for name in ("busy", "idle")] == ["", ""]
    unlike = by_name["crowded"]
    assert "tasks at once shared a drive" in unlike.likely_unknown
    assert (unlike.likely_low_s, unlike.likely_high_s) == (0, unlike.bound_s)
    assert {row.verdict for row in rows} == {TriageVerdict.MAY_MATTER}
    # Those that decide are chosen by the bound, and stand in the order of all.
    assert max(rows, key=lambda row: row.bound_s).job in summary.deciding
    assert list(summary.deciding) == [row.job for row in rows if row.job in summary.deciding]
    assert summary.likely_unknown == 2
    assert summary.likely_s == by_name["busy"].likely_s + by_name["idle"].likely_s
    text = " ".join(sums(answer))
    assert re.search(r"would probably save .+ in 2 jobs \(evidence: busy drives\)", text)
    assert "For 1 job that may matter, likely (?) only tells the order: " in text
    assert "What is likely is not known of 1 job that may matter: its history names no nodes" in text
    (likely,) = [column for column in columns(rows, [row.job for row in rows]) if column.head == "likely"]
    cells = dict(zip(by_name, likely.cells, strict=True))
    assert re.fullmatch(r"\d+ % \(\d+ to \d+\)", cells["busy"])
    assert re.fullmatch(r"\d+ %\? \(0 to \d+\)", cells["crowded"])
    assert cells["nameless"] == "not known"
    assert dict(zip(by_name, likely.titles, strict=True))["crowded"] == unlike.likely_unknown


def test_no_sum_is_likely_where_all_jobs_are_unlike_what_was_measured():
    answer = triage([made(HEAVY._replace(name=name)) for name in ("a", "b")], site("12xhdd"), 0.1, "", 0, ())
    assert [row.evidence for row in answer.rows] == ["counters", "counters"]
    assert (answer.summary.likely_unknown, answer.summary.likely_s) == (2, 0)
    text = " ".join(sums(answer))
    assert "probably save" not in text
    assert (
        "For 2 jobs that may matter, likely (?) only tells the order: a node has 12 drives, and no "
        "job on nodes with more than 2 was measured."
    ) in text
    assert "What is likely is not known" not in text


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
    assert row.reason.startswith(
        "its waits between heartbeats and polls decide: they may take 4.0 of 5.5 s a run, which"
    )
    assert (summary.short, summary.short_s) == (1, 11.0)
    assert headline(summary) == "1 job cannot matter, 1 is not known"
    assert summary.short_bound_s == pytest.approx(row.bound_s + 8)
    assert (
        "Waits between heartbeats and polls decide about 1 job: other drives could save up to 8 s of 11 s with such "
        "waits (" in " ".join(sums(answer))
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
    assert reason(LIGHT._replace(cpu=0.97)).startswith("it moves 1")
    assert reason(HEAVY._replace(cpu=0.97)).startswith("computing: its tasks wait")
    cached = {"busy": lambda job: Busy({"map": 0.1, "reduce": 0.1}, 0.0)}
    assert reason(HEAVY, **cached).startswith("the page cache served its reads: drives read 0 B")
    not_measured = {"busy": lambda job: Busy({}, 0.0)}
    assert reason(HEAVY._replace(cpu=0.97), **not_measured).startswith("computing: its tasks wait")


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
    assert "2 files told of runs that others tell of." in list(sums(answer))
    broken = [read_job(io.BytesIO(b"x"), {}, "", f"{number}.jhist") for number in (1, 2)]
    assert triage(broken, site(), 0.1, "1 x disk", 0, []).summary.copies == 0


@pytest.mark.parametrize("other", [{"name": "b"}, {"user": "another"}, {"submitted_ms": HEAVY.submitted_ms + 1}])
def test_two_jobs_to_which_two_clusters_gave_one_id_are_two(other):
    both = [made(HEAVY), made(HEAVY._replace(**other))]
    assert {job.id for job in both} == {HEAVY.id}
    assert distinct([*both, *reversed(both)]) == both


def test_runs_of_one_id_are_told_apart_in_a_time_that_grows_as_they_do():
    made_job = made(HEAVY)
    runs = [made_job._replace(submitted_ms=made_job.submitted_ms + number) for number in range(20_000)]
    began_s = time.process_time()
    assert distinct([*runs, made_job._replace(name="", user="", submitted_ms=0), *runs[:100]]) == runs
    assert time.process_time() - began_s < 5


def test_what_is_assumed_is_said():
    jobs = [made(HEAVY), made(LIGHT, {"dfs.replication": "1"}), made(HEAVY._replace(number=3, uberized=True))]
    nowhere = [
        (kind, {**event, "trackerName": ""} if "trackerName" in event else event)
        for kind, event in events(LIGHT._replace(number=8))
    ]
    assumed = " ".join(triage([*jobs, made(nowhere)], site(), 0.1, "1 x disk", 0, []).summary.assumed)
    assert (
        "3 of 4 histories have no configuration beside them that can be read: Hadoop's own values are taken" in assumed
    )
    assert "runs inside application masters (uber jobs, 1 of 4): only the bytes bound them" in assumed
    assert "1 of 4 histories name no nodes" in assumed
    sampled = made(HEAVY)._replace(nodes_are_sampled=True)
    words = "neither hardware threads nor busy times bound 1 of 1 runs, since a history server names the nodes of a few"
    for cores, is_said in ((None, False), (1, True)):
        assumed = " ".join(triage([sampled], site(cores=cores), 0.1, "1 x disk", 0, []).summary.assumed)
        assert (words in assumed) is is_said
        assert "hardware threads a node has" not in assumed


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
    assert " in the 1 job that may matter" in next(sums(answer))
    assert answer.summary.most_at_once == 1
    assert sum(answer.summary.verdicts.values()) == 5
    first, second = (
        answer.rows[0].model_copy(update={"job": name, "likely_s": likely_s, "bound_s": bound_s})
        for name, likely_s, bound_s in (("a", 9.0, 10.0), ("b", 1.0, 20.0))
    )
    assert deciding([first, second]) == ["a", "b"]  # in the order of the rows


def test_savings_by_roles_are_said_not_to_add_up_where_there_are_several():
    answer = triage([made(HEAVY)], site(), 0.1, "", 0, [])
    roles = answer.summary.roles
    assert len(roles) == 3
    assert sum(roles.values()) > answer.summary.bound_s
    words = "these overlap and do not add up"
    assert f" at most; {words}." in next(sums(answer))
    assert page(answer).count(words) == 2  # of all jobs, and of the only one
    alone = answer.summary.model_copy(update={"roles": {"input": roles["input"]}})
    assert words not in next(sums(answer.model_copy(update={"summary": alone})))


def test_a_sum_names_no_part_that_is_larger_than_itself():
    others = [made(HEAVY._replace(number=n, name=f"other {chr(97 + n)}")) for n in range(4)]
    row = next(row for row in judge([made(HEAVY), *others], site(), 0.1) if row.job == "nightly sort")
    assert row.beside_s > row.elapsed_s
    assert f"what the job and those beside it moved takes the drives at most {row.by_bytes_s:.1f} s" in row.how


def test_what_kernels_may_miss_is_counted_as_the_bound_counts_it():
    (row,) = judge([made(HEAVY)], site(busy=lambda job: Busy({"map": 2.0, "reduce": 1.0}, GIB)), 0.1)
    assert row.bound_s == pytest.approx(1.5 * row.busy_s)
    assert "busy for 3.0 s, counted 1.5 times since kernels may miss short requests" in row.how
    assert "moved takes the drives at most" in row.how


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
    return {change.kind: change for change in suggestions(made(job, settings))}


@pytest.mark.slow
def test_cheaper_changes_rest_on_counters():
    sort = kinds(HEAVY._replace(spills=2), {"mapreduce.task.io.sort.mb": "100"})["sort buffer"]
    assert "mapreduce.task.io.sort.mb from 100 to " in sort.change
    needed = int(re.search(r" to (\d+)", sort.change)[1])
    before, after, *trap = sort.patch
    assert (before, after) == ("- mapreduce.task.io.sort.mb=100", f"+ mapreduce.task.io.sort.mb={needed}")
    assert trap[0].startswith(f"# trap: raise -Xmx in mapreduce.map.java.opts by {needed - 100} MB, or maps ")
    assert trap[1].startswith(f"#   mapreduce.map.memory.mb by {ceil((needed - 100) / 0.8)}; ")
    assert "SPILLED_RECORDS" in sort.counter
    assert spills_per_record(made(HEAVY._replace(spills=3))) == pytest.approx(3)
    assert "sort buffer" not in kinds(HEAVY)
    settings = {"dfs.replication": "3"}
    codec, lz4 = "mapreduce.map.output.compress.codec", "org.apache.hadoop.io.compress.Lz4Codec"
    switch = ("- mapreduce.map.output.compress=false", "+ mapreduce.map.output.compress=true")
    *lines, trap = kinds(HEAVY, settings)["compression"].patch
    assert (*lines[:2], lines[3]) == (*switch, f"+ {codec}=org.apache.hadoop.io.compress.SnappyCodec")
    assert trap.startswith("# trap: ")
    *lines, trap = kinds(HEAVY, {codec: lz4})["compression"].patch
    assert (*lines, trap) == (*switch, f"# trap: each node needs the codec {lz4}")
    assert "compression" not in kinds(HEAVY, {"mapreduce.map.output.compress": "true"})
    assert "compression" not in kinds(HEAVY)  # without a configuration no one knows
    pieces = HEAVY._replace(maps=200, reduces=50, map_output_bytes=100 * MIB)
    assert "pieces of 10.2 KiB" in kinds(pieces)["small pieces"].counter
    assert "few reducers" in kinds(HEAVY._replace(reduces=1, nodes=4))
    assert "few reducers" not in kinds(HEAVY._replace(reduces=4, nodes=4))
    sampled = made(HEAVY._replace(reduces=1, nodes=4))._replace(nodes_are_sampled=True)
    assert any(change.counter.endswith("on at least 4 nodes") for change in suggestions(sampled))
    assert "small files" in kinds(HEAVY._replace(maps=400, read_bytes=400 * MIB))
    early = [
        (kind, {**event, "startTime": event["startTime"] - 30_000} if kind == "REDUCE_ATTEMPT_STARTED" else event)
        for kind, event in events(HEAVY)
    ]
    assert "slow start" in {change.kind for change in suggestions(read_job(io.BytesIO(history(early)), {}))}
    assert not kinds(LIGHT)


IDLE = LIGHT._replace(cpu=0.05)


def verdict(job, worth=0.1, **more):
    (row,) = judge([job], site("12xhdd", **more), worth)
    return row.verdict, row


def test_waits_that_nothing_explains_leave_the_verdict_open():
    found, row = verdict(made(IDLE))
    assert found is TriageVerdict.NOT_KNOWN
    assert (row.bound_s, row.bound_share) == (None, None)
    assert row.by_bytes_s > 0
    assert "its tasks wait for " in row.reason
    assert row.reason.endswith("the rest may be I/O that no counter names, and only a test tells")
    # Drives that were seen to be idle kept nobody waiting.
    quiet = {stage.name: 0.1 for stage in made(IDLE).stages}
    assert verdict(made(IDLE), busy=lambda job: Busy(quiet, 0.0, quiet))[0] is TriageVerdict.CANNOT_MATTER
    assert verdict(made(IDLE), busy=lambda job: Busy({}, 0.0, refuted="x"))[0] is TriageVerdict.NOT_KNOWN


def test_tasks_without_processor_time_may_have_waited_all_of_their_time():
    job = made(IDLE)
    stages = tuple(stage._replace(whole=stage.whole._replace(cpu_ms=0)) for stage in job.stages)
    found, row = verdict(job._replace(stages=stages))
    assert found is TriageVerdict.NOT_KNOWN
    assert row.reason.startswith("no processor time is counted, so that its tasks may wait for")
    assert re.match(r"processor time in [\d.,]+ s is not known, and ", row.how)
    assert "did not compute" not in row.how


def test_bytes_in_object_stores_are_on_no_drive_of_the_nodes():
    job = made(IDLE)
    stages = tuple(stage._replace(whole=stage.whole._replace(remote_read=4 * GIB)) for stage in job.stages)
    found, row = verdict(job._replace(stages=stages))
    assert found is TriageVerdict.CANNOT_MATTER
    assert row.reason.startswith("8.0 GiB of its data are in object stores, on no drive of the nodes")
    assert row.remote_bytes == 8 * GIB


def test_bytes_of_which_nobody_knows_where_they_are_leave_the_verdict_open():
    job = made(LIGHT._replace(cpu=0.4))
    (maps, reduces) = job.stages
    work = {
        "whole": maps.whole._replace(unplaced_read=80 * GIB),
        "busiest": maps.busiest._replace(unplaced_read=40 * GIB),
    }
    found, row = verdict(job._replace(stages=(maps._replace(**work), reduces), unplaced=("lakefs",)))
    assert found is TriageVerdict.NOT_KNOWN
    assert (
        "it moves 80.0 GiB by lakefs, and its history does not say whether that is on the nodes' drives" in row.reason
    )
    few = {name: of._replace(unplaced_read=10) for name, of in work.items()}
    found, row = verdict(made(LIGHT)._replace(stages=(maps._replace(**few), reduces)), worth=0.7)
    assert found is TriageVerdict.CANNOT_MATTER


def test_pods_are_taken_to_lie_on_one_node_and_no_threads_bound_them():
    job = made(HEAVY._replace(cpu=0.5))
    stages = tuple(stage._replace(busiest=stage.whole) for stage in job.stages)
    pods = job._replace(nodes=(), hosts_are_nodes=False, stages=stages)
    answer = triage([pods, made(LIGHT)], site(cores=8), 0.1, "1 x disk", 0, [])
    row = next(row for row in answer.rows if row.job == "nightly sort")
    (nodes,) = judge([job], site(), 0.1)
    assert row.bound_s >= nodes.bound_s
    assert (
        "1 of 2 histories name pods, not nodes: all their bytes are taken to lie on one node" in answer.summary.assumed
    )
    assert not any("name no nodes" in assumption for assumption in answer.summary.assumed)
    # Their drives are busy for the jobs beside them.
    beside, alone = (
        next(row for row in judge(jobs, site(), 0.1) if row.job == "report").beside_s
        for jobs in ([pods, made(LIGHT)], [made(LIGHT)])
    )
    assert beside > alone == 0


def test_threads_that_a_history_refutes_bound_nothing():
    job = HEAVY._replace(cpu=0.9, slots=16, maps=16, nodes=2)
    few, without = (judge([made(job)], site(cores=cores), 0.1)[0] for cores in (2, None))
    assert few.bound_s == without.bound_s > 0
    assert few.verdict is without.verdict
    answer = triage([made(job)], site(cores=2), 0.1, "1 x disk", 0, [])
    words = "how many hardware threads a node has is not known, since a job computed for "
    assert any(
        words in assumption and "2 hardware threads a node have" in assumption for assumption in answer.summary.assumed
    )
    plausible = triage([made(job)], site(cores=16), 0.1, "1 x disk", 0, [])
    assert not any("hardware threads" in assumption for assumption in plausible.summary.assumed)


def test_a_session_is_judged_by_the_time_in_which_its_jobs_ran():
    whole = made(LIGHT._replace(cpu=0.0, read_bytes=64 * GIB))
    session = whole._replace(finished_ms=whole.finished_ms + 86_400_000, ran_ms=whole.finished_ms - whole.started_ms)
    (row,) = judge([session], site(), 0.1)
    assert row.verdict is TriageVerdict.MAY_MATTER
    assert row.bound_share == pytest.approx(judge([whole], site(), 0.1)[0].bound_share)
    assert row.elapsed_s > 86_400 > row.ran_s
    assert "in which its jobs ran, of 86" in row.how
    answer = triage([session], site(), 0.1, "1 x disk", 0, [])
    assert "without what sessions waited for their users" in next(sums(answer))
    assert "with jobs" in [column.head for column in columns(answer.rows, ["x"])]
    assert "with jobs" not in [column.head for column in columns(judge([whole], site(), 0.1), ["x"])]


def test_drives_that_work_for_others_leave_the_verdict_open():
    job = made(LIGHT)
    most = {stage.name: stage.elapsed_ms / 1000 for stage in job.stages}
    found, row = verdict(job, busy=lambda job: Busy(most, 0.0, most))
    assert found is TriageVerdict.NOT_KNOWN
    assert "something else uses it" in row.reason
    idle = {name: 0.04 * seconds for name, seconds in most.items()}
    assert verdict(job, busy=lambda job: Busy(most, 0.0, idle))[0] is TriageVerdict.CANNOT_MATTER


SHARES = st.floats(0, 1)


@pytest.mark.slow
@given(
    cpu=SHARES, read=st.integers(0, 2 * GIB), foreign=SHARES, busy=SHARES, unplaced=st.integers(0, 64 * GIB),
    worth=st.floats(0.01, 0.5), odd=st.sampled_from(["unplaced", "foreign", "refuted", "uncounted", "session"]),
)  # fmt: skip
def test_what_contradicts_a_bound_never_excludes_a_job(cpu, read, foreign, busy, unplaced, worth, odd):
    job = made(LIGHT._replace(cpu=cpu, read_bytes=read))
    seconds, most = ({stage.name: share * stage.elapsed_ms / 1000 for stage in job.stages} for share in (busy, foreign))
    measured = {"busy": lambda _: Busy(seconds, 0.0)}
    contradicted, more = {
        "unplaced": (job._replace(stages=tuple(
            stage._replace(busiest=stage.busiest._replace(unplaced_read=unplaced)) for stage in job.stages
        )), {}),
        "uncounted": (job._replace(uncounted="nobody counted it"), measured),
        "session": (job._replace(ran_ms=round(1000 * job.tasks_s)), measured),
        "foreign": (job, {"busy": lambda _: Busy(seconds, 0.0, most)}),
        "refuted": (job, {"busy": lambda _: Busy({}, 0.0, refuted="x")}),
    }[odd]  # fmt: skip
    before = verdict(job, **({} if odd == "unplaced" else measured), worth=worth)[0]
    after = verdict(contradicted, **more, worth=worth)[0]
    assert after is not TriageVerdict.CANNOT_MATTER or before is TriageVerdict.CANNOT_MATTER


@pytest.mark.parametrize(("seconds", "known"), [(0.0, True), (1.0, True), (40.0, False), (float("inf"), False)])
def test_what_nobody_counted_leaves_the_verdict_open_where_it_is_much(seconds, known):
    found, row = verdict(made(LIGHT)._replace(uncertain=(Uncertain("4 tasks have no ends", seconds),)))
    assert (found is TriageVerdict.CANNOT_MATTER) == known
    assert ("4 tasks have no ends" in row.reason) != known


@pytest.mark.slow
@given(cpu=SHARES, map_s=st.integers(60, 6000), worth=st.floats(0.02, 0.9))
def test_waits_beyond_the_threshold_that_nothing_explains_never_exclude_a_job(cpu, map_s, worth):
    job = made(LIGHT._replace(cpu=cpu, map_ms=1000 * map_s))
    found, row = verdict(job, worth=worth)
    waits = row.unexplained_s / row.ran_s
    assert found is not TriageVerdict.CANNOT_MATTER or waits < worth
    assert found is TriageVerdict.CANNOT_MATTER or waits + 0.1 > worth  # they exclude nothing below it


def test_contradictions_count_together_and_with_polls():
    job = made(LIGHT._replace(cpu=0.99))
    unplaced, foreign, rest = (Uncertain(name, 0.04 * job.ran_s) for name in ("a", "b", "c"))
    for known, excluded in (((unplaced,), True), ((unplaced, foreign), False), ((unplaced, foreign, rest), False)):
        found, row = verdict(job._replace(uncertain=known))
        assert (found is TriageVerdict.CANNOT_MATTER) is excluded
    assert row.contradictions == ("a", "b")  # the fewest that reach the threshold with the waits between polls


def test_a_run_that_waits_for_what_nobody_knows_keeps_its_row_from_being_excluded():
    light = [LIGHT._replace(number=number, cpu=0.99, map_ms=600_000) for number in range(1, 20)]
    assert judge([made(run) for run in light], site(), 0.1)[0].verdict is TriageVerdict.CANNOT_MATTER
    (row,) = judge([*map(made, light), made(light[0]._replace(number=30, cpu=0.5))], site(), 0.1)
    assert row.verdict is TriageVerdict.NOT_KNOWN
    assert re.match("1 of its 20 runs could save much .* one of .* s up to .*: its tasks wait for", row.reason)


def test_an_uber_job_waits_when_it_does_not_compute():
    run = LIGHT._replace(uberized=True, nodes=1, slots=1, reduces=0, maps=1, map_ms=600_000)
    assert verdict(made(run._replace(cpu=0.02)))[0] is TriageVerdict.NOT_KNOWN
    assert verdict(made(run._replace(cpu=0.97)))[0] is TriageVerdict.CANNOT_MATTER


@pytest.mark.slow
def test_a_run_that_may_matter_on_its_own_keeps_its_row_from_being_excluded():
    runs = [LIGHT._replace(number=number, name="query", map_ms=600_000) for number in range(1, 30)]
    heavy = HEAVY._replace(number=50, name="query", map_ms=200_000)
    plain = judge([made(run) for run in runs], site(), 0.1)
    (row,) = judge([made(run) for run in [*runs, heavy]], site(), 0.1)
    assert [one.verdict for one in plain] == [TriageVerdict.CANNOT_MATTER]
    assert (row.runs, row.verdict) == (30, TriageVerdict.NOT_KNOWN)
    ran_s = f"{made(heavy).ran_s:,.0f}"
    assert row.reason.startswith(f"1 of its 30 runs could save much of their own time, one of {ran_s} s up to ")
    # A small run decides nothing.
    small = HEAVY._replace(number=50, name="query", map_ms=2_000, reduce_ms=2_000)
    assert judge([made(run) for run in [*runs, small]], site(), 0.1)[0].verdict is TriageVerdict.CANNOT_MATTER

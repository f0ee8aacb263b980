"""Proves what is compared of jobs' histories before and after a change, what is left out, and what is refused."""

import re
from datetime import datetime, timedelta

import pytest

from assay.cli.context import find_installation
from assay.engine.past.job import PastJob, Work
from assay.engine.past.task_times import ReadSpan, sums_of
from assay.model.errors import BadInputError
from assay.stats.before_after import ChangeVerdict
from assay.triage.changed import change_of
from assay.triage.drives import drives_by_role
from assay.triage.ranking import DriveSite

BEGAN = datetime(2026, 11, 1, 22).astimezone()
NIGHTS = 4
CHANGED_MS = round((BEGAN + timedelta(days=NIGHTS, hours=-10)).timestamp() * 1000)
GB = 1_000_000_000


def run(name="sort", night=0, seconds=1000.0, read=10 * GB, moved=GB, cpu=0.5, at_h=0.0, **changes):
    """A run of one stage, whose tasks compute for that share of their time."""
    begin_ms = round((BEGAN + timedelta(days=night, hours=at_h)).timestamp() * 1000)
    # Times of different nights differ by a thousandth: equal ones have no spread.
    took_ms = round(1000 * seconds * (1 + 0.001 * (night % 2)))
    span = ReadSpan(begin_ms, begin_ms + took_ms, round(cpu * took_ms))
    work = Work(tasks=1, task_ms=took_ms, cpu_ms=span.computed_ms, store_read=read, store_written=moved)
    job = PastJob(
        f"job_{name}_{night}", f"{name} 2026-11-{night + 1:02d}", "etl", "", "SUCCEEDED", begin_ms, begin_ms,
        begin_ms + took_ms, uberized=False, maps=1, reduces=4,
        stages=(sums_of("map", [span], {"map": took_ms}, [work]),), nodes=("worker-1",), settings={"a": "1"},
    )  # fmt: skip
    return job._replace(**changes)


def runs(name="sort", ratio=1.0, nights=2 * NIGHTS, **changes):
    return [run(name, night, 1000.0 * (ratio if night >= NIGHTS else 1.0), **changes) for night in range(nights)]


def site():
    return DriveSite(drives_by_role("1xhdd", find_installation().profiles))


def compared(jobs, named=("train",), role="", worth=0.1, changed_ms=CHANGED_MS):
    return change_of(jobs, changed_ms, site(), worth, role, named)


def test_a_job_is_compared_beside_its_control():
    answer = compared([*runs("sort", 0.7 * 1.05), *runs("train", 1.05, at_h=0.25)])
    sort, train = sorted(answer.jobs, key=lambda row: row.control)
    assert (answer.nights_before, answer.nights_after, answer.controls) == (4, 4, ["train"])
    assert sort.change.ratio == pytest.approx(0.7, abs=0.002)
    assert sort.change.verdict is answer.total.verdict is ChangeVerdict.HELPED
    assert sort.plain_ratio == pytest.approx(0.735, abs=0.002)
    assert sort.stages["map"].ratio == pytest.approx(0.7, abs=0.002)
    assert train.change.ratio == answer.drift.ratio == pytest.approx(1.05, abs=0.002)
    assert (sort.runs_before, sort.runs_after) == (4, 4)
    assert sort.seconds == pytest.approx(1000, rel=0.01)


def test_the_batch_is_judged_where_jobs_fill_it():
    both = [*runs("sort", 0.5), *runs("train")]
    assert compared(both).batch.ratio == pytest.approx(1, abs=0.002)  # the control runs beside it, and is longer then
    apart = compared([*runs("sort", 0.5), *runs("train", at_h=8)])
    assert apart.batch is None
    assert any(remark.startswith("the batch: no job runs in 9") for remark in apart.remarks)


def test_a_batch_whose_jobs_start_by_the_clock_is_not_judged():
    """Its length stays as it is while all jobs drift, which would count as a saving beside the controls."""
    drifting = [
        job for place, name in enumerate(("sort", "load", "train")) for job in runs(name, 1.05, at_h=0.3 * place)
    ]
    answer = compared(drifting)
    assert answer.batch is None
    assert any(
        re.match("the batch: the runs that follow one another until its end fill 3. % of it", remark)
        for remark in answer.remarks
    )
    times_s = [1000 * (1.05 if night >= NIGHTS else 1) for night in range(2 * NIGHTS)]
    following = [
        run(name, night, seconds, at_h=place * (seconds + 60) / 3600)
        for night, seconds in enumerate(times_s) for place, name in enumerate(("sort", "load", "train"))
    ]  # fmt: skip
    assert compared(following).batch.ratio == pytest.approx(1, abs=0.01)


def test_without_controls_a_change_is_seen_and_nobody_knows_by_what():
    answer = compared(runs("sort", 0.7), named=())
    assert answer.drift is None
    assert answer.total.verdict is ChangeVerdict.CHANGED
    assert compared(runs("sort", 1.0), named=()).total.verdict is ChangeVerdict.NOT_KNOWN


def test_jobs_that_no_drive_could_shorten_are_controls():
    jobs = [*runs("sort", 0.7, read=50 * GB), *runs("train", 1.05, cpu=0.99, at_h=0.4)]
    answer = compared(jobs, named=())
    assert answer.controls == ["train"]
    assert 0 < answer.unseen < 0.05
    assert answer.total.ratio == pytest.approx(0.7 / 1.05, abs=0.002)


def test_with_a_role_jobs_that_move_nothing_in_it_are_controls():
    """The job reads its input for most of its time, and has nothing in local directories but its tasks' starts."""
    jobs = [*runs("sort", 0.7, cpu=0.2, read=50 * GB), *runs("load", cpu=0.2, read=50 * GB)]
    assert compared(jobs, named=()).controls == []
    with pytest.raises(BadInputError, match="all 2 jobs are controls"):
        compared(jobs, named=(), role="intermediate")


def test_a_control_that_changed_beside_the_others_is_named():
    jobs = [*runs("sort", 0.7), *(job for name in ("a", "b", "c") for job in runs(name)), *runs("odd", 1.4)]
    jobs = [job._replace(finished_ms=job.finished_ms + place % 7) for place, job in enumerate(jobs)]
    (remark,) = compared(jobs, named=("a", "b", "c", "odd")).remarks[:1]
    assert remark.startswith("the control odd takes more time than before beside the other controls")


def refusal(jobs, **more):
    with pytest.raises(BadInputError) as raised:
        compared(jobs, **more)
    text = str(raised.value)
    assert "\n" not in text
    return text


def test_one_night_on_a_side_is_refused():
    assert "there is 1 night before" in refusal(runs()[NIGHTS - 1 :])
    assert "there is 1 night after" in refusal(runs(nights=NIGHTS + 1))
    assert "there are 2 nights after" in refusal(runs(nights=NIGHTS + 2))


def test_a_job_that_seldom_ran_is_left_out():
    seldom = [run("report", night) for night in (0, 1, 4, 5, 6)]
    answer = compared([*seldom, *runs("sort"), *runs("train", at_h=1)])
    assert "1 job ran in fewer than 3 nights on a side of the change (report)" in answer.remarks


def test_a_change_outside_the_histories_is_refused():
    before, after = refusal(runs(), changed_ms=CHANGED_MS - 30 * 86_400_000), refusal(runs(), changed_ms=2**42)
    assert "has no run before it (runs began from 2026-11-01" in before
    assert "has no run after it" in after
    assert "none of these histories tells of a job that ended well" in refusal(
        [job._replace(missing=("its end",)) for job in runs()]
    )


def test_a_renamed_job_is_in_no_comparison():
    old, new = runs("old", nights=NIGHTS), [job for job in runs("new") if job.started_ms >= CHANGED_MS]
    answer = compared([*old, *new, *runs("sort"), *runs("train", at_h=1)])
    assert "1 job ran only before the change, and may have been renamed then (old)" in answer.remarks
    assert "1 job ran only after the change, and may have been renamed then (new)" in answer.remarks
    text = refusal([*old, *new])
    assert text.startswith("no job did the same in 3 nights or more on both sides of the change: 1 job ran only")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"settings": {"a": "2"}}, "had a 1 before the change, and 2 after (--setting a, if that was the change)"),
        ({"settings": {}}, ""),
        (
            {"settings": {"b": "2"}},
            "had a 1 before the change, and not set after (--setting a, if that was the change)",
        ),
        ({"reduces": 40}, "had 10.0 times as many reducers since the change, as with other arguments"),
    ],
)
def test_a_job_with_other_arguments_is_in_no_comparison(changes, reason):
    other = [job._replace(**changes) if job.started_ms >= CHANGED_MS else job for job in runs("other")]
    answer = compared([*other, *runs("sort"), *runs("train", at_h=1)])
    assert (f"1 job {reason} (other)" in answer.remarks) is bool(reason)
    assert ("other" in [row.job for row in answer.jobs]) is not bool(reason)


def test_jobs_count_whose_settings_were_the_change_whatever_they_move_since():
    changed = {"settings": {"a": "2", "b": "3"}}
    jobs = [run("sort", night, 1000.0) for night in range(NIGHTS)]
    jobs += [run("sort", night, 700.0, moved=GB // 4, **changed) for night in range(NIGHTS, 2 * NIGHTS)]
    jobs += runs("train", at_h=1)
    answer = change_of(jobs, CHANGED_MS, site(), 0.1, named=("train",), settings=("a", "b"))
    (sort,) = [row for row in answer.jobs if not row.control]
    assert sort.change.ratio == pytest.approx(0.7, abs=0.002)
    of_one = change_of([*jobs, *runs("join")], CHANGED_MS, site(), 0.1, named=("train",), settings=("a",))
    assert (
        "1 job had b not set before the change, and 3 after (--setting b, if that was the change) (sort)"
        in of_one.remarks
    )
    with pytest.raises(BadInputError, match="--setting c: no job had another value of it after the change; changed"):
        change_of(jobs, CHANGED_MS, site(), 0.1, named=("train",), settings=("c",))


@pytest.mark.parametrize(
    ("after", "left_out"),
    [
        ({"moved": 4 * GB}, "had 4.0 times as many bytes moved"),
        ({"read": 40 * GB}, "read other data since the change"),
        ({"read": 15 * GB, "moved": 3 * GB // 2}, ""),
        ({"read": 15 * GB}, ""),
    ],
)
def test_work_that_does_not_go_with_the_input_is_other_work(after, left_out):
    jobs = [run("etl", night, **(after if night >= NIGHTS else {})) for night in range(2 * NIGHTS)]
    answer = compared([*jobs, *runs("sort"), *runs("train", at_h=1)])
    assert any(left_out in remark and "(etl)" in remark for remark in answer.remarks) is bool(left_out)
    assert ("etl" in [row.job for row in answer.jobs]) is not bool(left_out)


def test_runs_that_tell_nothing_are_counted():
    jobs = [*runs("sort"), *runs("train", at_h=1)]
    early = jobs[0].stages[0]._replace(begin_ms=jobs[0].started_ms - 3_600_000)
    odd = [
        run("sort", night=20, missing=("its end",)),
        run("sort", night=21)._replace(stages=(early,)),
        run("sort", night=NIGHTS - 1, at_h=13.8)._replace(id="job_during"),
    ]
    remarks = compared([*jobs, *odd]).remarks
    for reason in ("did not end well", "the clocks of nodes differ", "that the change fell into"):
        assert any(reason in remark and remark.endswith(": 1") for remark in remarks)


@pytest.mark.parametrize("state", ["", "FAILED"])
def test_a_run_that_did_not_end_well_is_not_compared(state):
    """A log of Spark's that has no end counts in triage until its last event."""
    jobs = [*runs("sort"), *runs("train", at_h=1)]
    answer = compared([*jobs, run("sort", night=5, seconds=100.0, state=state)._replace(id="job_cut")])
    assert answer.jobs == compared(jobs).jobs
    assert "runs that did not end well, or whose histories lack something: 1" in answer.remarks


def test_a_night_with_runs_on_both_sides_is_left_out():
    """The change was made at one o'clock in the night, before the controls ran."""
    jobs = [*runs("sort"), *runs("train", at_h=4)]
    at_ms = round((BEGAN + timedelta(days=NIGHTS, hours=3)).timestamp() * 1000)
    answer = compared(jobs, changed_ms=at_ms)
    assert (answer.nights_before, answer.nights_after) == (4, 3)
    assert "runs in the night of the change, where others ran on its other side: 2" in answer.remarks


def test_a_batch_that_goes_on_over_noon_asks_for_the_zone():
    answer = compared([*runs("sort", at_h=13.9), *runs("train", at_h=13.9)])
    assert any("set TZ to it" in remark for remark in answer.remarks)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("trian", "--control trian: no job has that name; did you mean 'train'?"),
        ("zzz", "--control zzz: no job has that name; name it as --json does"),
        ("old", "--control old: this job ran only before the change, and may have been renamed then; name another"),
    ],
)
def test_a_control_that_is_not_compared_is_refused(named, message):
    jobs = [*runs("sort"), *runs("train", at_h=1), *runs("old", nights=NIGHTS)]
    assert refusal(jobs, named=(named,)) == message


def test_a_job_whose_input_is_not_known_is_not_adjusted_for_it():
    jobs = [*runs("sort", 0.7, read=0), *runs("train", at_h=0.25)]
    (sort,) = (row for row in compared(jobs).jobs if not row.control)
    assert sort.input_ratio is None
    assert sort.change.ratio == pytest.approx(0.7, abs=0.002)

"""Proves that it is told where pairs did not run close in time, or no task of a job ran for long, and only there."""

import pytest

from assay.model.record import Amount, Status, Step
from assay.model.scale import ScaleReport
from assay.model.trial import Landed
from assay.stats.drive_use import counters_still
from assay.stats.run_doubts import doubts_of, jobs_stood_still, parts_apart
from assay.stats.trial_summary import summarise
from tests.builders import a_job, a_record, a_trial, device_reports, summaries

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


def ran(number, medium, repetition, began_ms, workload="triangles"):
    """A trial that took a minute."""
    step = Step(name="run", started_ms=began_ms, seconds=60.0)
    return a_record(a_trial(number, medium, repetition, workload), steps=(step,))


def in_one_go(repetitions):
    """Of two workloads and two media, with a little time between the trials."""
    kinds = [(workload, medium) for workload in ("sort", "count") for medium in ("hdd", "ssd")]
    return [
        ran(number, medium, number // 4 + 1, number * (MINUTE_MS + 5000), workload)
        for number, (workload, medium) in enumerate(kinds * repetitions)
    ]


def test_a_run_in_one_go_is_not_doubted():
    assert not parts_apart(summaries(in_one_go(5)))
    assert not parts_apart(summaries([]))


def test_a_scale_model_is_judged_by_the_time_that_it_took_here():
    """Its steps are a tenth as long in the model's time; where it began is by this machine's clock."""
    in_model = ScaleReport(dilation=10, clock="model")
    step = Step(name="run", started_ms=0, seconds=6.0)
    steps = [step, step.model_copy(update={"started_ms": MINUTE_MS})]
    records = [a_record(a_trial(at, "hdd", 1, "sort"), steps=(one,), scale=in_model) for at, one in enumerate(steps)]
    assert not parts_apart(summaries(records))
    assert [record.took_s for record in records] == [60.0, 60.0]
    steps[1] = step.model_copy(update={"started_ms": 5 * MINUTE_MS})
    assert parts_apart(summaries([records[0], records[1].model_copy(update={"steps": (steps[1],)})]))


def test_whole_repetitions_on_two_days_are_not_doubted():
    assert not parts_apart(
        summaries([*in_one_go(2), *(ran(9 + at, medium, 3, DAY_MS) for at, medium in enumerate(["hdd", "ssd"]))])
    )


def test_work_that_is_never_compared_may_run_on_two_days():
    trials = in_one_go(2)
    assert not parts_apart(
        summaries([one if one.trial.workload.name == "sort" else ran(9, one.trial.placement.name, one.trial.repetition, DAY_MS,
                                                           "count") for one in trials])
    )  # fmt: skip


@pytest.mark.parametrize(
    ("apart_ms", "told"), [(4 * DAY_MS, "4 days"), (DAY_MS // 24, "1 hour"), (9 * MINUTE_MS, "9 minutes")]
)
def test_pairs_of_which_one_half_ran_later_are_a_doubt(apart_ms, told):
    records = [
        ran(number, medium, number % 3 + 1, began_ms)
        for medium, began_ms, first in (("hdd", 0, 1), ("ssd", apart_ms, 4))
        for number in range(first, first + 3)
    ]
    (doubt,) = parts_apart(summaries(records))
    assert doubt.kind == "parts-apart"
    assert doubt.what == f"trials of 3 repetitions ran with breaks, up to {told} apart"
    assert doubt in doubts_of(summaries(records))


def test_a_trial_that_ran_again_later_is_told():
    (doubt,) = parts_apart(summaries([*in_one_go(3)[1:], ran(0, "hdd", 1, 2 * DAY_MS, "sort")]))
    assert doubt.what == "trials of 1 repetition ran with breaks, up to 2 days apart"


def idled(number, idle_s, elapsed_s):
    """A trial of whose job no task ran for so long; None where that is not known."""
    active_s = None if idle_s is None else elapsed_s - idle_s
    job = a_job(name="sort", elapsed_s=elapsed_s).model_copy(update={"active_s": active_s})
    return a_record(a_trial(number, "hdd", number, "sort"), jobs=(job,))


@pytest.mark.parametrize(("idle_s", "elapsed_s"), [(29.0, 60.0), (30.0, 121.0), (0.0, 500.0), (None, 500.0)])
def test_a_job_that_starts_and_waits_as_jobs_do_is_not_doubted(idle_s, elapsed_s):
    assert not jobs_stood_still(summaries([idled(1, idle_s, elapsed_s)]))


def test_jobs_of_which_no_task_ran_for_long_are_named_the_longest_first():
    """As where an application master ends, and another starts the tasks again that the first had begun."""
    records = [idled(1, 5.0, 50.0), idled(2, 30.0, 120.0), idled(3, 99.5, 159.2)]
    (doubt,) = jobs_stood_still(summaries(records))
    names = [record.trial.id for record in records]
    assert doubt.kind == "job-stood-still"
    assert doubt.what == (
        f"no task in a job's history ran for a long time: sort in {names[2]} (100 of 159 s), "
        f"sort in {names[1]} (30 of 120 s)"
    )
    assert doubt in doubts_of(summaries(records))
    assert not jobs_stood_still(summaries([record.model_copy(update={"status": Status.FAILED}) for record in records]))


MIB = 1 << 20


def staged_on(medium_counted, staged_bytes=300 * MIB, cache="cold", emulated=False):
    """A trial that staged so much on its drive, whose counters say `medium_counted` bytes."""
    trial = a_trial(1, "hdd").model_copy(update={"cache": cache})
    landed = Landed(role="input", when="staged", bytes=staged_bytes, shares={"hdd": 1.0})
    report = {"staging": {"writes": {"bytes": medium_counted}}, "run": {"busy_seconds": 0.0}}
    counted = {"staging": ("written_bytes", medium_counted), "run": ("busy_s", 0.0)}
    amounts = tuple(
        Amount(probe="disk", subject="hdd", series=series, part=part, value=value)
        for part, (series, value) in counted.items()
    )
    how = {"devices": device_reports({"hdd": report})} if emulated else {"amounts": amounts}
    return a_record(trial, landed=(landed,), **how)


@pytest.mark.parametrize("emulated", [False, True])
def test_a_drive_whose_counters_stand_still_is_no_evidence_of_anything(emulated):
    still = staged_on(0, emulated=emulated)
    (doubt,) = [doubt for doubt in doubts_of(summaries([still])) if doubt.kind == "counters-still"]
    assert doubt.what.startswith("hdd counted next to nothing")
    assert summarise(still).busy_s is None
    found = [staged_on(250 * MIB), staged_on(0, staged_bytes=MIB), staged_on(0, cache="warm")]
    assert not any(map(counters_still, found)), "what the kernel may have yet, and little, contradicts nothing"
    assert summarise(found[0]).busy_s == 0.0


def in_a_step(job_s, step_s):
    return a_record(a_trial(1, "hdd"), elapsed_s=job_s, steps=(Step(name="run", started_ms=0, seconds=step_s),))


@pytest.mark.parametrize(
    ("job_s", "step_s", "apart"), [(1.9, 21.0, True), (40.0, 21.0, True), (15.0, 21.0, False), (1.9, 9.0, False)]
)
def test_jobs_that_took_much_less_or_more_than_the_step_that_ran_them_contradict_it(job_s, step_s, apart):
    record = in_a_step(job_s, step_s)
    doubts = [doubt.kind for doubt in doubts_of(summaries([record]))]
    assert ("clocks-apart" in doubts) is apart

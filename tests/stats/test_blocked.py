"""Proves that the clock's shares follow from samples and the kernel's accounting, and when they are doubted."""

import pytest

from assay.model.record import Amount, Sample, Span, Stage, Step
from assay.model.task import TaskAttempt
from assay.model.trial import ZERO_DELAY
from assay.stats.blocked import (
    PROBE,
    beyond_pressure_share,
    blocked_shares,
    by_phase,
    clock_shares,
    mean_not_computing,
    unexplained,
)
from assay.stats.decision import decisions
from assay.stats.two_estimates import blocked_above, estimates_apart
from tests.builders import a_record, summaries, summaries_by
from tests.stats.terasort import terasort_run


def amounts(probe=PROBE, subject="cluster", part="run", **values):
    return tuple(
        Amount(probe=probe, subject=subject, series=series, part=part, value=value) for series, value in values.items()
    )


SAMPLED = amounts(computing_s=60.0, blocked_s=20.0, waiting_s=10.0, idle_s=10.0, running_s=80.0)
RUN = (Step(name="run", started_ms=0, seconds=100.0),)


def measured(processor_s, others_s, sampled=SAMPLED):
    machine = amounts("cpu", "machine", user_s=processor_s + others_s, steal_s=0.0, idle_s=99.0, iowait_s=9.0)
    return a_record(amounts=(*sampled, *machine, *amounts(processor_s=processor_s)), steps=RUN)


def test_what_other_programs_had_of_the_processors_was_waiting_for_them():
    shares = clock_shares(measured(processor_s=60.0, others_s=30.0))
    assert (shares.computing_s, shares.waiting_s) == pytest.approx((45.0, 25.0))
    assert (shares.blocked_s, shares.idle_s) == (20.0, 10.0)
    assert shares.left_over_s == pytest.approx(0.0)


def test_running_that_nobody_accounts_for_is_left_over_and_doubted():
    quiet = measured(processor_s=60.0, others_s=4.0)
    assert clock_shares(quiet).left_over_s == pytest.approx(12.0)
    (doubt,) = unexplained(summaries([quiet, measured(60.0, 30.0)]))
    assert doubt.kind == "clock-unexplained"
    assert doubt.what == f"12 % of the step 'run' in {quiet.trial.id} is neither computing, blocked, waiting nor idle"
    more = measured(processor_s=100.0, others_s=0.0)
    assert clock_shares(more).left_over_s == pytest.approx(-15.0)
    assert "counted twice" in unexplained(summaries([more]))[0].what


def test_samples_that_missed_a_part_of_the_run_are_left_over():
    late = a_record(amounts=SAMPLED, steps=(Step(name="run", started_ms=0, seconds=110.0),))
    assert clock_shares(late).left_over_share == pytest.approx(10 / 110)


def under_pressure(blocked_s, full_s, some_s, subject="cluster"):
    sampled = amounts(computing_s=70 - blocked_s, blocked_s=blocked_s, waiting_s=20.0, idle_s=10.0, running_s=80.0)
    return a_record(amounts=(*sampled, *amounts(subject=subject, io_full_s=full_s, io_some_s=some_s)), steps=RUN)


@pytest.mark.parametrize(
    ("blocked_s", "beyond"), [(10.0, 0.0), (25.0, 0.0), (29.0, 0.04), (36.0, 0.11), (6.0, -0.04), (2.0, -0.08)]
)
def test_blocked_time_is_between_the_pressures_full_and_some(blocked_s, beyond):
    """The sampled shares add up to the clock in each case: only the pressure shows that they are wrong."""
    record = under_pressure(blocked_s, full_s=10.0, some_s=25.0)
    assert clock_shares(record).left_over_s == pytest.approx(0.0)
    assert beyond_pressure_share(record) == pytest.approx(beyond)
    doubts = unexplained(summaries([record]))
    assert [doubt.kind for doubt in doubts] == ["blocked-beyond-pressure"] * (abs(beyond) > 0.05)
    if doubts:
        side = "above the cluster's I/O pressure 'some'" if beyond > 0 else "below the cluster's I/O pressure 'full'"
        by = f"{100 * abs(beyond):.0f} % of the step 'run'"
        assert doubts[0].what == f"blocked time in {record.trial.id} is {side} by {by}"


def test_the_whole_machines_pressure_tells_nothing_of_the_cluster():
    assert beyond_pressure_share(under_pressure(36.0, 10.0, 25.0, subject="machine")) is None


def test_without_samples_nothing_is_explained_and_nothing_doubted():
    assert clock_shares(a_record(steps=RUN)) is None
    assert clock_shares(a_record(steps=RUN, amounts=amounts(blocked_s=3.0))) is None
    assert unexplained(summaries([a_record(steps=RUN)])) == []


def attempt(number, began_s, ended_s, stage="map"):
    return TaskAttempt(
        job="job_1", attempt=f"a{number}", stage=stage, node="n", state="SUCCEEDED", started_ms=1000 * began_s,
        finished_ms=1000 * ended_s,
    )  # fmt: skip


def test_blocked_time_is_shared_out_among_the_phases_that_ran():
    """Two maps and one reduce, then the reduce alone, then nothing; what was before the job does not count."""
    percents = {500: 100, 1500: 100, 2500: 60, 3500: 50, 4500: 20}
    samples = [
        Sample(probe=PROBE, series="blocked_percent", time_ms=time_ms, value=value)
        for time_ms, value in percents.items()
    ]
    ran = [attempt(1, 1, 2), attempt(2, 1, 3), attempt(3, 1, 4, "reduce")]
    job = Span(begin_ms=500, end_ms=5000)
    found = {one.subject: one.value for one in by_phase(samples, ran, [job])}
    # From 0.5 to 1.5 s, looked up in its middle: two maps and the reduce; then a map and the reduce; the reduce alone.
    assert found == pytest.approx({"map": 2 / 3 + 0.3, "reduce": 1 / 3 + 0.3 + 0.5, "outside": 0.2}, abs=0.001)
    assert sum(found.values()) == pytest.approx(2.3, abs=0.002)
    assert {one.basis for one in by_phase(samples, ran, [job])} == {"estimated"}


def test_no_samples_give_no_phases():
    assert list(by_phase([], [attempt(1, 1, 2)], [Span(begin_ms=0, end_ms=5000)])) == []


BLOCKED = [
    Sample(probe=PROBE, series="blocked_percent", time_ms=time_ms, value=100) for time_ms in range(500, 10500, 500)
]
"""Throughout 10 s."""


def test_only_time_within_the_jobs_is_blocked_time_of_theirs():
    """Blocked throughout 10 s: two jobs of 2 and 3 s have 5 s of that, the time before, between and after them none."""
    jobs = [Span(begin_ms=1200, end_ms=3200), Span(begin_ms=5000, end_ms=8000)]
    found = {one.subject: one.value for one in by_phase(BLOCKED, [attempt(1, 2, 3), attempt(2, 5, 8)], jobs)}
    assert found == pytest.approx({"map": 4.0, "outside": 1.0}, abs=0.3)
    assert sum(found.values()) == pytest.approx(5.0, abs=0.002)
    assert list(by_phase(BLOCKED, [], [])) == []


def test_time_in_which_jobs_ran_at_once_is_blocked_once():
    """Blocked throughout 10 s, of which two jobs ran at once from 1 to 6 s: one till 4 s, the other from 2 s."""
    jobs = [Span(begin_ms=2000, end_ms=6000), Span(begin_ms=1000, end_ms=4000)]
    blocked = {amount.subject: amount.value for amount in by_phase(BLOCKED, [attempt(1, 1, 4), attempt(2, 2, 6)], jobs)}
    assert blocked == pytest.approx({"map": 5.0, "outside": 0.0}, abs=0.002)


def blocked_for(record, seconds):
    """So many of the jobs' own seconds; the step `run` has 3 more."""
    own = (*amounts(blocked_s=seconds + 3.0, running_s=1.0, computing_s=1.0, waiting_s=0.0, idle_s=0.0),
           *amounts(subject="map", blocked_s=seconds))  # fmt: skip
    return record.model_copy(update={"amounts": own})


def test_a_share_has_an_interval_from_the_trials_of_all_placements():
    ten = a_record(elapsed_s=10.0)
    found = blocked_shares(
        summaries_by(
            {"hdd": [blocked_for(ten, 4.0), blocked_for(ten, 5.0)], "ssd": [blocked_for(ten, 1.0)], "none": [ten]}
        )
    )
    assert set(found) == {"hdd", "ssd"}
    assert found["hdd"].share == pytest.approx(0.45)
    assert found["hdd"].phases == {"map": 4.5}
    # One degree of freedom: 12.706 standard errors of 0.0707, and 0.05.
    assert found["ssd"].high == pytest.approx(0.1 + 12.706 * 0.0707, abs=0.001)
    assert found["hdd"].low == 0.0
    assert found["hdd"].measured
    once = blocked_shares(summaries_by({"hdd": [blocked_for(ten, 4.0)]}))["hdd"]
    assert (once.share, once.low, once.high) == (0.4, None, None)


def test_equal_shares_are_no_proof_of_no_noise():
    """Neither a trial's own nor those of the others, to which its interval would have no width."""
    ten = a_record(elapsed_s=10.0)
    equal = [blocked_for(ten, 1.0), blocked_for(ten, 1.0)]
    found = blocked_shares(summaries_by({"hdd": [blocked_for(ten, 4.0)], "ssd": equal, "nvme": equal}))
    assert {(one.low, one.high, one.half_width) for one in found.values()} == {(None, None, None)}
    found = blocked_shares(summaries_by({"hdd": [blocked_for(ten, 4.0)], "ssd": [*equal, blocked_for(ten, 1.2)]}))
    assert found["hdd"].half_width > 0


def test_placements_that_hardly_vary_do_not_narrow_the_interval_of_one_that_does():
    ten = a_record(elapsed_s=10.0)
    quiet = {name: [blocked_for(ten, seconds) for seconds in (1.0, 1.01, 0.99)] for name in ("ssd", "nvme")}
    noisy = [blocked_for(ten, seconds) for seconds in (3.0, 4.0, 5.0)]
    together, alone = (
        blocked_shares(summaries_by({"hdd": noisy, **quiet})),
        blocked_shares(summaries_by({"hdd": noisy})),
    )
    assert together["hdd"].half_width == pytest.approx(alone["hdd"].half_width, rel=0.01)


@pytest.mark.parametrize(("above", "doubted"), [(0.35, False), (0.05, True), (0.9, True)])
@pytest.mark.parametrize("path_s", [0.0, 6.0])
def test_estimates_whose_intervals_do_not_overlap_are_doubted(above, doubted, path_s):
    """The TeraSort's storage share on the hard disk is 35 % above its baseline, whose path blocks it for a time too."""
    plan, records = terasort_run()
    shares = {"hdd": above, ZERO_DELAY: 0.0}
    known = {name: [one for one in records if one.trial.placement.name == name] for name in shares}
    blocked = [
        blocked_for(one, path_s + one.totals.elapsed_s * (shares[name] + 0.001 * one.trial.repetition))
        for name, own in known.items()
        for one in own
    ]
    found = estimates_apart(decisions(plan, summaries(blocked)))
    assert [one.kind for one in found] == ["storage-estimates-disagree"] * doubted
    if doubted:
        assert "35 %" in found[0].what
        assert f"blocked for {100 * above:.0f} %" in found[0].what


def test_blocked_time_above_zero_delay_is_a_share_of_the_drives_own_time():
    """20 s against 10 s with zero delay, of which 8 and 2 s are blocked: 6 of 20 s more."""
    times = {"hdd": (20.0, 20.0), ZERO_DELAY: (10.0, 10.0)}
    plan, records = terasort_run(repetitions=2, times=times)
    seconds = {"hdd": 8.0, ZERO_DELAY: 2.0}
    (decision,) = decisions(plan, summaries([blocked_for(one, seconds[one.trial.placement.name]) for one in records]))
    hdd = decision.placements[0]
    assert blocked_above(hdd, decision.baseline).value == pytest.approx(0.3)
    assert blocked_above(hdd, None) is None
    hdd, zero = (
        one.model_copy(update={"blocked": one.blocked.model_copy(update={"half_width": 0.03})})
        for one in (hdd, decision.baseline)
    )
    # The baseline's share is of half the time.
    assert blocked_above(hdd, zero).high == pytest.approx(0.3 + (0.03**2 + 0.015**2) ** 0.5)


def of_counters(cpu_ms):
    """A record of one job: 4 maps of 5 s and 2 reduces of 1, 2 and 2 s, so 30 s of tasks."""
    record = a_record()
    counters = {"org.apache.hadoop.mapreduce.TaskCounter": {} if cpu_ms is None else {"CPU_MILLISECONDS": cpu_ms}}
    update = {
        "stages": (Stage(name="map", tasks=4), Stage(name="reduce", tasks=2)), "counters": counters,
        "phases": {"map": 5.0, "shuffle": 1.0, "merge": 2.0, "reduce": 2.0},
    }  # fmt: skip
    return record.model_copy(update={"jobs": (record.jobs[0].model_copy(update=update),)})


def test_counters_bound_what_storage_may_have_cost():
    assert mean_not_computing(summaries([of_counters(12_000), of_counters(18_000)])) == pytest.approx(0.5)


def test_stages_that_a_job_made_have_all_of_its_phases():
    record = of_counters(12_000)
    stages = (Stage(name="stage 0", tasks=4), Stage(name="stage 1", tasks=2))
    jobs = (record.jobs[0].model_copy(update={"stages": stages, "phases": {"fetch": 1.0, "compute": 4.0}}),)
    assert mean_not_computing(summaries([record.model_copy(update={"jobs": jobs})])) == pytest.approx(1 - 12 / 30)
    of_own_name = (jobs[0].model_copy(update={"phases": {"stage 0": 6.0, "stage 1": 3.0}}),)
    assert mean_not_computing(summaries([record.model_copy(update={"jobs": of_own_name})])) == pytest.approx(
        1 - 12 / 30
    )


@pytest.mark.parametrize("cpu_ms", [None, 31_000])
def test_counters_bound_nothing_without_processor_time_or_with_more_than_one_processor_for_each_task(cpu_ms):
    assert mean_not_computing(summaries([of_counters(12_000), of_counters(cpu_ms)])) is None


def test_nothing_that_ran_bounds_nothing():
    assert mean_not_computing([]) is None

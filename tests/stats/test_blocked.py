"""Proves that the clock's shares follow from looks and the kernel's accounting, and when they are doubted."""

import pytest

from assay.model.record import Amount, Sample, Step
from assay.model.task import TaskAttempt
from assay.stats.blocked import PROBE, blocked_shares, by_phase, clock_shares, unexplained
from assay.stats.decision import decisions, estimates_apart
from tests.builders import a_record
from tests.stats.terasort import terasort_run


def amounts(probe=PROBE, subject="cluster", part="run", **values):
    return tuple(
        Amount(probe=probe, subject=subject, series=series, part=part, value=value) for series, value in values.items()
    )


LOOKS = amounts(computing_s=60.0, blocked_s=20.0, waiting_s=10.0, idle_s=10.0, running_s=80.0)
RUN = (Step(name="run", started_ms=0, seconds=100.0),)


def measured(processor_s, others_s, looks=LOOKS):
    machine = amounts("cpu", "machine", user_s=processor_s + others_s, steal_s=0.0, idle_s=99.0, iowait_s=9.0)
    return a_record(amounts=(*looks, *machine, *amounts(processor_s=processor_s)), steps=RUN)


def test_what_other_programs_had_of_the_processors_was_waiting_for_them():
    shares = clock_shares(measured(processor_s=60.0, others_s=30.0))
    assert (shares.computing_s, shares.waiting_s) == pytest.approx((45.0, 25.0))
    assert (shares.blocked_s, shares.idle_s) == (20.0, 10.0)
    assert shares.left_over_s == pytest.approx(0.0)


def test_running_that_nobody_accounts_for_is_left_over_and_doubted():
    quiet = measured(processor_s=60.0, others_s=4.0)
    assert clock_shares(quiet).left_over_s == pytest.approx(12.0)
    (doubt,) = unexplained([quiet, measured(60.0, 30.0)])
    assert doubt.kind == "clock-unexplained"
    assert doubt.what == f"12 % of the jobs' time in {quiet.trial.id} is neither computing, blocked, waiting nor idle"
    more = measured(processor_s=100.0, others_s=0.0)
    assert clock_shares(more).left_over_s == pytest.approx(-15.0)
    assert "counted twice" in unexplained([more])[0].what


def test_looks_that_missed_a_part_of_the_run_are_left_over():
    late = a_record(amounts=LOOKS, steps=(Step(name="run", started_ms=0, seconds=110.0),))
    assert clock_shares(late).left_over_share == pytest.approx(10 / 110)


def test_without_looks_nothing_is_explained_and_nothing_doubted():
    assert clock_shares(a_record(steps=RUN)) is None
    assert clock_shares(a_record(steps=RUN, amounts=amounts(blocked_s=3.0))) is None
    assert unexplained([a_record(steps=RUN)]) == []


def attempt(number, began_s, ended_s, stage="map"):
    return TaskAttempt(
        job="job_1", attempt=f"a{number}", stage=stage, node="n", state="SUCCEEDED", started_ms=1000 * began_s,
        finished_ms=1000 * ended_s,
    )  # fmt: skip


def test_blocked_time_is_shared_out_among_the_phases_that_ran():
    """Two maps and one reduce, then the reduce alone, then nothing; what was before the jobs does not count."""
    percents = {500: 100, 1500: 100, 2500: 60, 3500: 50, 4500: 20}
    samples = [
        Sample(probe=PROBE, series="blocked_percent", time_ms=time_ms, value=value)
        for time_ms, value in percents.items()
    ]
    ran = [attempt(1, 1, 2), attempt(2, 1, 3), attempt(3, 1, 4, "reduce")]
    found = {one.subject: one.value for one in by_phase(samples, ran, (600, 5000))}
    # From 0.5 to 1.5 s, looked up in its middle: two maps and the reduce; then a map and the reduce; the reduce alone.
    assert found == pytest.approx({"map": 2 / 3 + 0.3, "reduce": 1 / 3 + 0.3 + 0.5, "outside": 0.2}, abs=0.001)
    assert sum(found.values()) == pytest.approx(2.3, abs=0.002)
    assert {one.basis for one in by_phase(samples, ran, (600, 5000))} == {"estimated"}


def test_no_samples_give_no_phases():
    assert list(by_phase([], [attempt(1, 1, 2)], (0, 5000))) == []


def blocked_for(record, seconds):
    own = (*amounts(blocked_s=seconds, running_s=1.0, computing_s=1.0, waiting_s=0.0, idle_s=0.0),
           *amounts(subject="map", blocked_s=seconds))  # fmt: skip
    return record.model_copy(update={"amounts": own})


def test_a_share_has_an_interval_from_the_trials_of_all_placements():
    ten = a_record(elapsed_s=10.0)
    found = blocked_shares(
        {"hdd": [blocked_for(ten, 4.0), blocked_for(ten, 5.0)], "ssd": [blocked_for(ten, 1.0)], "none": [ten]}
    )
    assert set(found) == {"hdd", "ssd"}
    assert found["hdd"].share == pytest.approx(0.45)
    assert found["hdd"].phases == {"map": 4.5}
    # One degree of freedom: 12.706 standard errors of 0.0707, and 0.05.
    assert found["ssd"].high == pytest.approx(0.1 + 12.706 * 0.0707, abs=0.001)
    assert found["hdd"].low == 0.0
    assert found["hdd"].measured
    once = blocked_shares({"hdd": [blocked_for(ten, 4.0)]})["hdd"]
    assert (once.share, once.low, once.high) == (0.4, None, None)


@pytest.mark.parametrize(("share", "doubted"), [(0.35, False), (0.05, True), (0.9, True)])
def test_estimates_whose_intervals_do_not_overlap_are_doubted(share, doubted):
    """The TeraSort's storage share on the hard disk is 35 % above its baseline."""
    plan, records = terasort_run()
    told = [
        blocked_for(one, one.totals.elapsed_s * (share + 0.001 * one.trial.repetition))
        if one.trial.placement.name == "hdd" else one
        for one in records
    ]  # fmt: skip
    found = estimates_apart(decisions(plan, told))
    assert [one.kind for one in found] == ["storage-estimates-disagree"] * doubted
    if doubted:
        assert "35 %" in found[0].what
        assert f"blocked for {100 * share:.0f} %" in found[0].what

"""Proves what an answer says of other processors and other drives: computing scaled, storage kept or stretched."""

import pytest

from assay.model.trial import ZERO_DELAY, MediumSpec
from assay.stats.decision import Verdict, decisions
from assay.stats.sensitivity import Sensitivity, sensitivity_of
from tests.builders import a_trial, summaries, with_facts
from tests.stats.terasort import terasort_run, timed, written

FACTS = {
    "cpu": "a processor", "cores": 2, "bzip2_mb_s": 14.0, "medium.hdd.assumed_parameters": 13, "medium.hdd.parameters": 19,
    "medium.ssd.assumed_parameters": 0, "medium.ssd.parameters": 20,
}  # fmt: skip
TIMES = {"levels": {}, "base": "hdd", "other": "ssd", "worth": 0.1, "base_s": 34.0, "other_s": 16.0, "zero_s": 14.0}
THRESHOLD_SPEED = 0.0875
"""With such processors computing takes 160 s, and the other saves a tenth of the base's 180 s."""


def emulated(record, **facts):
    media = tuple(
        MediumSpec(name=one.name, kind="emulated", profile="null" if one.name == ZERO_DELAY else one.name)
        for one in record.trial.media
    )
    trial = record.trial.model_copy(update={"media": media})
    return with_facts(record.model_copy(update={"trial": trial}), {**FACTS, **facts})


def varied(number, drive, way, seconds):
    """A trial with a drive whose assumed figures were varied, as `run --sensitivity` makes it."""
    record = emulated(timed(a_trial(number, f"{drive}-{way}", 1, workload="terasort"), seconds))
    media = (MediumSpec(name=f"{drive}-{way}", kind="emulated", profile=f"{drive}:{way}"),)
    return record.model_copy(update={"trial": record.trial.model_copy(update={"media": media})})


def found_in(plan, records, **asked):
    (decision,) = decisions(plan, summaries(records))
    return decision, sensitivity_of(decision, summaries(records), **asked)


def a_run():
    plan, records = terasort_run()
    return plan, [emulated(one) for one in records]


def test_as_fast_as_here_it_is_the_answer_with_its_interval():
    decision, found = found_in(*a_run())
    saving = decision.placements[1].saving
    assert found.saving().value == pytest.approx(saving.value)
    assert (found.saving().low, found.saving().high) == pytest.approx((saving.low, saving.high))
    assert (found.cores, found.processor, found.processor_mb_s) == (2.0, "a processor", 14.0)


def test_faster_processors_shorten_the_computing_alone():
    found = Sensitivity(**TIMES, halves=None)
    assert found.saving(2).value == pytest.approx(1 - (7 + 2) / (7 + 20))
    assert found.saving(0.5).value == pytest.approx(1 - (28 + 2) / (28 + 20))
    assert found.saving(1e9).value == pytest.approx(18 / 20)  # nothing but storage is left
    assert found.saving(THRESHOLD_SPEED).value == pytest.approx(0.1)


def test_the_interval_at_another_speed_is_that_of_simulated_times():
    """Against joint draws of the fit, which know nothing of the weights that the arithmetic uses."""
    import numpy as np

    from assay.stats.fit import fits
    from assay.stats.sample import samples

    plan, records = a_run()
    _, found = found_in(plan, records)
    (fit,) = fits(samples(summaries(records)), "placement", plan.prior).values()
    base = found.base_s
    other, zero = base * np.exp(fit.draws(("ssd", ZERO_DELAY), "hdd", 200_000, 1)).T
    for speed in (0.5, 2.0):
        savings = 1 - (other + zero * (1 / speed - 1)) / (base + zero * (1 / speed - 1))
        saving = found.saving(speed)
        assert (saving.low, saving.high) == pytest.approx(tuple(np.quantile(savings, [0.025, 0.975])), abs=0.01)


def test_only_drives_with_assumed_figures_are_stretched_each_for_itself():
    both = Sensitivity(**TIMES, halves=None, assumed=("hdd", "ssd"))
    assert both.assumed_range() == pytest.approx((1 - (14 + 2.5) / (14 + 16), 1 - (14 + 1.6) / (14 + 25)))
    _, found = found_in(*a_run())
    assert found.assumed == ("hdd",)
    computing, storage, other = found.zero_s, found.base_s - found.zero_s, found.other_s
    ends = [1 - other / (computing + factor * storage) for factor in (0.8, 1.25)]
    assert found.assumed_range() == pytest.approx(tuple(ends))
    assert Sensitivity(**TIMES, halves=None).assumed_range() is None


def test_a_verdict_at_another_speed_asks_for_the_whole_interval():
    found = Sensitivity(**TIMES, halves=(0.1, 0.1, 0.1))
    assert found.verdict(1.0) is Verdict.WORTH_IT
    assert found.verdict(THRESHOLD_SPEED) is Verdict.NOT_KNOWN_YET
    assert found.verdict(THRESHOLD_SPEED / 20) is Verdict.NOT_WORTH_IT


@pytest.mark.parametrize(
    ("late", "fast", "slow"),
    [
        (("hdd",), Verdict.WORTH_IT, Verdict.NOT_KNOWN_YET),
        (("ssd",), Verdict.NOT_KNOWN_YET, Verdict.NOT_WORTH_IT),
        (("hdd", "ssd"), Verdict.NOT_KNOWN_YET, Verdict.NOT_KNOWN_YET),
    ],
)
def test_no_verdict_rests_on_a_placement_whose_late_writes_make_it_look_fast(late, fast, slow):
    found = Sensitivity(**TIMES, halves=(0.1, 0.1, 0.1), late=late)
    assert (found.verdict(1.0), found.verdict(THRESHOLD_SPEED / 20)) == (fast, slow)


@pytest.mark.parametrize("late", [(), ("hdd",), ("ssd",), ("hdd", "ssd"), (ZERO_DELAY,)])
def test_it_knows_which_of_its_placements_has_trials_whose_jobs_ended_before_their_writes(late):
    shares = {name: 0.1 if name in late else 0.9 for name in ("hdd", "ssd", ZERO_DELAY)}
    plan, records = written(terasort_run(), shares)
    (decision,) = decisions(plan, summaries(records))
    assert sensitivity_of(decision, summaries(records)).late == tuple(name for name in late if name != ZERO_DELAY)


def test_at_the_drives_own_speed_storage_is_shorter_by_the_slowdown_and_may_change_the_verdict():
    found = Sensitivity(**TIMES, halves=(0.1, 0.1, 0.1), slowdown=20)
    assert found.at_own_speed.value == pytest.approx(1 - (14 + 2 / 20) / (14 + 20 / 20))
    assert found.decided_by_scale
    assert not Sensitivity(**TIMES, halves=(0.1, 0.1, 0.1), slowdown=2).decided_by_scale


def test_trials_with_varied_drives_check_the_arithmetic_and_are_in_no_figure():
    plan, records = a_run()
    checks = [varied(901, "hdd", "slower", 50.0), varied(902, "hdd", "faster", 41.0)]
    alone, with_checks = found_in(plan, records), found_in(plan, [*records, *checks])
    assert with_checks[0] == alone[0]
    assert with_checks[1].model_copy(update={"varied": ()}) == alone[1]
    slower, faster = with_checks[1].varied
    assert (slower.placement, slower.elapsed_s, faster.elapsed_s) == ("hdd-slower", 50.0, 41.0)
    storage_s = alone[1].base_s - alone[1].zero_s
    assert slower.calculated_s == pytest.approx(alone[1].zero_s + 1.25 * storage_s)
    assert faster.calculated_s == pytest.approx(alone[1].zero_s + 0.8 * storage_s)


def test_without_a_baseline_or_emulated_drives_nothing_is_reckoned():
    plan, records = a_run()
    assert found_in(plan, [one for one in records if not one.trial.zero_delay])[1] is None
    plan, real = terasort_run()
    assert found_in(plan, real)[1] is None
    noise = {"hdd": (40.0, 41.0), "ssd": (39.0, 40.0), ZERO_DELAY: (45.0, 46.0)}
    plan, records = terasort_run(2, noise)
    assert found_in(plan, [emulated(one) for one in records])[1] is None


def test_one_trial_of_each_has_no_interval():
    plan, records = terasort_run(1)
    _, found = found_in(plan, [emulated(one) for one in records])
    assert found.saving(2).low is None
    assert found.verdict(2) is Verdict.NOT_KNOWN_YET


NOISY = {**TIMES, "base_s": 26.0, "zero_s": 14.0}


@pytest.mark.parametrize("other_s", [14.0, 13.6, 10.0, 2.0])
def test_a_time_below_that_with_zero_delay_has_no_storage_and_none_saves_more_than_all(other_s):
    """Also at the speeds that may be asked for, 0.05 to 100 times, and with drives that are assumed."""
    found = Sensitivity(**{**NOISY, "other_s": other_s}, halves=(0.1, 0.1, 0.1), assumed=("hdd", "ssd"))
    assert found.saving().value == pytest.approx(1 - other_s / 26)
    assert found.saving(40).value == pytest.approx(1 - (other_s / 40) / (14 / 40 + 12))
    for speed in (0.05, 0.5, 1.0, 4.0, 40.0, 100.0):
        saving, ends = found.saving(speed), found.assumed_range(speed)
        assert saving.low <= saving.value <= saving.high < 1
        assert ends[0] <= saving.value <= ends[1] < 1


def test_its_trials_with_other_drives_are_reckoned_to_take_as_long():
    plan, records = terasort_run(
        3, {"hdd": (40.0, 41.0, 42.0), "ssd": (20.0, 20.2, 20.4), ZERO_DELAY: (22.0, 22.2, 22.4)}
    )
    records = [*map(emulated, records), varied(901, "ssd", "slower", 21.0), varied(902, "ssd", "faster", 20.0)]
    _, found = found_in(plan, records)
    assert found.other_s < found.zero_s
    assert [one.calculated_s for one in found.varied] == pytest.approx([found.other_s] * 2)


@pytest.mark.parametrize(
    ("facts", "cores"),
    [
        ({"cores": 8, "cpu_quota": 2.0}, 2.0), ({"cores": 2, "cpu_quota": 2.5}, 2.0),
        ({"cores": 4, "cpu_quota": 0.5}, 0.5), ({"cores": 8}, 8.0), ({"cores": "unknown"}, None),
    ],
)  # fmt: skip
def test_a_quota_bounds_the_processor_time_that_there_was(facts, cores):
    plan, records = terasort_run()
    _, found = found_in(plan, [emulated(one, **facts) for one in records])
    assert found.cores == cores
